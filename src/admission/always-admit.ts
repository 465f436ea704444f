import type { AdmissionPlugin } from "../registry/admission.ts";

/** Rejects nothing. It exists so that command lines that name it work. */
export function alwaysAdmit(): AdmissionPlugin {
  return { name: "AlwaysAdmit" };
}
