import type { AdmissionPlugin } from "../registry/admission.ts";

/** Refuses nothing. It exists so that command lines which name it start. */
export function alwaysAdmit(): AdmissionPlugin {
  return { name: "AlwaysAdmit" };
}
