import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";

const finalizer = "scheduling.k8s.io/podgroup-protection";

/** Adds a finalizer to new pod groups. A controller removes it when no pod refers to the group. */
export function podGroupProtection(): AdmissionPlugin {
  return {
    name: "PodGroupProtection",
    admit(attributes) {
      const { operation, object } = attributes;
      if (operation !== "CREATE" || object === undefined) return;
      if (!isObjectWrite(attributes, { group: "scheduling.k8s.io", resource: "podgroups" })) return;
      const present = object.metadata.finalizers ?? [];
      if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer];
    },
  };
}
