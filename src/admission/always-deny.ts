import type { AdmissionPlugin } from "../registry/admission.ts";
import { refuse } from "./attributes.ts";

/** Makes the API read-only, to test how clients react. */
export function alwaysDeny(): AdmissionPlugin {
  return {
    name: "AlwaysDeny",
    seesConnections: true,
    admit(attributes) {
      throw refuse(attributes, "admission control is denying all modifications");
    },
  };
}
