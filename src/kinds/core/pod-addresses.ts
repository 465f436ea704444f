import type { PodStatus } from "../../api/types/core-v1.ts";

/**
 * `podIP` and the first of `podIPs` are the same address. If a writer sets both and they differ, `podIP` counts, because node
 * agents from before dual stack only know that one.
 */
export function alignAddresses(status: PodStatus): void {
  const { podIP = "", podIPs: [{ ip: first = "" } = {}] = [] } = status;
  if (podIP === "" && first !== "") status.podIP = first;
  else if (podIP !== first) status.podIPs = [{ ip: podIP }];
}
