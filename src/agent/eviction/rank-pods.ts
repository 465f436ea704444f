import type { Pod } from "../../api/types/core-v1.ts";
import { type PodUsage, requestedBy, type StarvedResource, usedBy } from "./pod-usage.ts";

/** A pod that may be evicted. Its usage is undefined if it is not known, as that of a pod that has not started. */
export interface Candidate {
  readonly pod: Pod;
  readonly usage: PodUsage | undefined;
}

interface Facts<T> {
  readonly candidate: T;
  readonly isKnown: boolean;
  readonly exceedsRequest: boolean;
  readonly priority: number;
  readonly aboveRequest: number;
}

/**
 * Returns the pods in the order in which they are evicted: first those that use more than they have requested, then by
 * priority, then by how much they use above their request. For processes, requests do not matter.
 */
export function rankPods<T extends Candidate>(candidates: readonly T[], resource: StarvedResource): T[] {
  const facts = candidates.map((candidate) => factsOf(candidate, resource));
  return facts
    .toSorted(
      (a, b) =>
        Number(a.isKnown) - Number(b.isKnown) ||
        Number(b.exceedsRequest) - Number(a.exceedsRequest) ||
        a.priority - b.priority ||
        b.aboveRequest - a.aboveRequest,
    )
    .map(({ candidate }) => candidate);
}

function factsOf<T extends Candidate>(candidate: T, resource: StarvedResource): Facts<T> {
  const { pod, usage } = candidate;
  const priority = pod.spec?.priority ?? 0;
  if (resource === "pids") return { candidate, isKnown: true, exceedsRequest: false, priority, aboveRequest: 0 };
  // Upstream compares inodes with the request for storage, which only counts among pods with one.
  const request = requestedBy(pod, resource);
  const aboveRequest = (usage === undefined ? 0 : usedBy(usage, resource)) - request;
  return { candidate, isKnown: usage !== undefined, exceedsRequest: aboveRequest > 0, priority, aboveRequest };
}
