import { structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { JsonObject } from "../../api/json.ts";

/** IPs, or else host names, of a load balancer, in order. */
export function loadBalancerTexts(status: JsonObject): string[] {
  const texts = structsIn(structIn(status, "loadBalancer"), "ingress").flatMap((ingress) => {
    const text = textIn(ingress, "ip") || textIn(ingress, "hostname");
    return text === "" ? [] : [text];
  });
  return [...new Set(texts)].sort();
}
