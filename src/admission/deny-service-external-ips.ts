import type { KubeObject } from "../api/object-meta.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite, refuse } from "./attributes.ts";

/** An external IP draws traffic that is meant for somebody else: none may be added. Those that are there stay. */
export function denyServiceExternalIps(): AdmissionPlugin {
  return {
    name: "DenyServiceExternalIPs",
    validate(attributes) {
      const { object, oldObject } = attributes;
      if (object === undefined || !isObjectWrite(attributes, { group: "", resource: "services" })) return;
      const before = externalIpsOf(oldObject);
      if (externalIpsOf(object).every((ip) => before.includes(ip))) return;
      throw refuse(attributes, "Use of external IPs is denied by admission control.");
    },
  };
}

function externalIpsOf(service: KubeObject | undefined): readonly string[] {
  return (service?.["spec"] as { externalIPs?: string[] } | undefined)?.externalIPs ?? [];
}
