import type { AdmissionPlugin } from "../registry/admission.ts";
import { refuse } from "./attributes.ts";

/** Refuses new objects of a kind whose definition is being deleted: they would never be removed. */
export const terminatingKind: AdmissionPlugin = {
  name: "TerminatingKind",
  admit(attributes) {
    const { operation, requested } = attributes;
    if (operation !== "CREATE" || requested.isTerminating !== true) return;
    throw refuse(attributes, "create not allowed while custom resource definition is terminating");
  },
};
