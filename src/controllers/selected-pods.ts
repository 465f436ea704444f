import type { Entry } from "../api/entry.ts";
import { type LabelSelector, matchesLabels } from "../api/label-selector.ts";
import type { TurnSlice } from "../process/turn-slice.ts";
import type { Registry } from "../registry/registry.ts";

/** Number of pods processed between two readings of the clock. */
const podsPerLook = 256;

export interface SelectedPodsParts<Pod> {
  readonly pods: Registry;
  readonly slice: TurnSlice;
  /** Reads a pod; undefined if it does not count. */
  readonly read: (entry: Entry) => Pod | undefined;
}

/** Reads the pods of a namespace that a selector chooses, ordered by name. Other requests get turns in between. */
export async function selectedPods<Pod>(
  namespace: string,
  selector: LabelSelector,
  { pods, slice, read }: SelectedPodsParts<Pod>,
): Promise<Pod[]> {
  const found: Pod[] = [];
  let looks = 0;
  for (const entry of pods.cacher.entries(pods.keyOf(namespace, ""))) {
    if (++looks % podsPerLook === 0) await slice.pass();
    if (!matchesLabels(selector, entry.index.labels)) continue;
    const pod = read(entry);
    if (pod !== undefined) found.push(pod);
  }
  return found;
}
