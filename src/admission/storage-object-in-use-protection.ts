import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";

export const claimFinalizer = "kubernetes.io/pvc-protection";
export const volumeFinalizer = "kubernetes.io/pv-protection";

const finalizers = { persistentvolumeclaims: claimFinalizer, persistentvolumes: volumeFinalizer };

/** A volume and the claim for it stay until nobody uses them: a controller takes the finalizer away then. */
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
