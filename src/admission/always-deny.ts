import type { AdmissionPlugin } from "../registry/admission.ts";
import { refuse } from "./attributes.ts";

/** Makes the API read-only, for tests of what clients do then. */
export function alwaysDeny(): AdmissionPlugin {
  return {
    name: "AlwaysDeny",
    admit(attributes) {
      throw refuse(attributes, "admission control is denying all modifications");
    },
  };
}
