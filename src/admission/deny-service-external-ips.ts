import type { Service } from "../api/types/core-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite, refuse } from "./attributes.ts";

/** Rejects new external IPs, which can attract another service's traffic. Existing ones stay. */
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

function externalIpsOf(service: Service | undefined): readonly string[] {
  return service?.spec?.externalIPs ?? [];
}
