import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";

export const claimFinalizer = "kubernetes.io/pvc-protection";
export const volumeFinalizer = "kubernetes.io/pv-protection";

const finalizers = { persistentvolumeclaims: claimFinalizer, persistentvolumes: volumeFinalizer };

/** Adds a finalizer to volumes and claims, which a controller removes when they are no longer used. */
export function storageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",
    admit(attributes) {
      const { operation, object } = attributes;
      if (operation !== "CREATE" || object === undefined) return;
      for (const [resource, finalizer] of Object.entries(finalizers)) {
        if (!isObjectWrite(attributes, { group: "", resource })) continue;
        const present = object.metadata.finalizers ?? [];
        if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer];
      }
    },
  };
}
