import { podLimits, podRequests, resourceListOf } from "../../admission/pod-resources.ts";
import type { Pod, ResourceRequirements } from "../../api/types/core-v1.ts";

/** Returns the resources of a pod as a whole, as its status shows them. */
export function podResources({ spec = { containers: null } }: Pod): ResourceRequirements {
  const [limits, requests] = [podLimits(spec), podRequests(spec)];
  return {
    ...(limits.size === 0 ? {} : { limits: resourceListOf(limits) }),
    ...(requests.size === 0 ? {} : { requests: resourceListOf(requests) }),
  };
}
