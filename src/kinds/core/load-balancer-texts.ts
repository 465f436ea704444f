import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { JsonObject } from "../../api/json.ts";

/** IPs, or else host names, of a load balancer, in order. */
export function loadBalancerTexts(status: JsonObject): string[] {
  const texts = objectsOf(objectOf(status["loadBalancer"])["ingress"]).flatMap((ingress) => {
    const text = textOf(ingress["ip"]) || textOf(ingress["hostname"]);
    return text === "" ? [] : [text];
  });
  return [...new Set(texts)].sort();
}
