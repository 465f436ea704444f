import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { objectsOf } from "../../../api/json-reading.ts";

/** A policy restricts what comes in, and what goes out when it says something of that. */
export function defaultNetworkPolicy(policy: JsonObject): void {
  const spec = policy["spec"];
  if (!isJsonObject(spec) || (Array.isArray(spec["policyTypes"]) && spec["policyTypes"].length > 0)) return;
  spec["policyTypes"] = objectsOf(spec["egress"]).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}
