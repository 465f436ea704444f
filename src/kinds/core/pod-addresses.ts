import type { PodStatus } from "../../api/types/core-v1.ts";

/**
 * `podIP` and the first of `podIPs` are the same address. Where a writer says both and they differ, `podIP` counts: node
 * agents from before dual stack know no other.
 */
export function alignAddresses(status: PodStatus): void {
  const { podIP = "", podIPs: [{ ip: first = "" } = {}] = [] } = status;
  if (podIP === "" && first !== "") status.podIP = first;
  else if (podIP !== first) status.podIPs = [{ ip: podIP }];
}
