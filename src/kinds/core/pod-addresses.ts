import type { JsonObject } from "../../api/json.ts";
import { objectsOf, textOf } from "../../api/validation/fields.ts";

/**
 * `podIP` and the first of `podIPs` are the same address. Where a writer says both and they differ, `podIP` counts: node
 * agents from before dual stack know no other.
 */
export function withAlignedAddresses(status: JsonObject): JsonObject {
  const [podIP, podIPs] = [textOf(status["podIP"]), objectsOf(status["podIPs"])];
  const first = textOf(podIPs[0]?.["ip"]);
  if (podIP === "") return first === "" ? status : { ...status, podIP: first };
  return podIP === first ? status : { ...status, podIPs: [{ ip: podIP }] };
}
