import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";

export const claimFinalizer = "kubernetes.io/pvc-protection";
export const volumeFinalizer = "kubernetes.io/pv-protection";
export const attributesClassFinalizer = "kubernetes.io/vac-protection";

const finalizers = [
  { group: "", resource: "persistentvolumeclaims", finalizer: claimFinalizer },
  { group: "", resource: "persistentvolumes", finalizer: volumeFinalizer },
  { group: "storage.k8s.io", resource: "volumeattributesclasses", finalizer: attributesClassFinalizer },
];

/**
 * Adds a finalizer to volumes, claims and classes of volume attributes. A controller removes it when they are no longer
 * used.
 */
export function storageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",
    admit(attributes) {
      const { operation, object } = attributes;
      if (operation !== "CREATE" || object === undefined) return;
      for (const { group, resource, finalizer } of finalizers) {
        if (!isObjectWrite(attributes, { group, resource })) continue;
        const present = object.metadata.finalizers ?? [];
        if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer];
      }
    },
  };
}
