import { compareQuantities, parseQuantity } from "../api/quantity.ts";
import type { PersistentVolumeClaim } from "../api/types/core-v1.ts";
import type { StorageClass } from "../api/types/storage-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isObjectWrite, refuse } from "./attributes.ts";

const claimClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Allows a bound claim to grow only if the class of its volume supports that. */
export function persistentVolumeClaimResize({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "PersistentVolumeClaimResize",
    validate(attributes) {
      const { operation, object, oldObject } = attributes;
      if (operation !== "UPDATE") return;
      if (!isObjectWrite(attributes, { group: "", resource: "persistentvolumeclaims" })) return;
      const [claim, old] = [object as PersistentVolumeClaim, oldObject as PersistentVolumeClaim];
      if (!grows(claim, old)) return;
      if (old.status?.phase !== "Bound")
        throw refuse(attributes, "Only bound persistent volume claims can be expanded");
      if (allowsExpansion(claim, lookup)) return;
      throw refuse(
        attributes,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
      );
    },
  };
}

function grows(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  return compareQuantities(storageOf(claim), storageOf(old)) > 0;
}

function storageOf({ spec }: PersistentVolumeClaim): ReturnType<typeof parseQuantity> {
  return parseQuantity(spec?.resources?.requests?.["storage"] ?? "0");
}

function allowsExpansion({ metadata, spec }: PersistentVolumeClaim, lookup: ObjectLookup): boolean {
  const name = metadata.annotations?.[claimClassAnnotation] ?? spec?.storageClassName ?? "";
  const found = lookup.get({ group: "storage.k8s.io", resource: "storageclasses" }, "", name);
  return (found as StorageClass | undefined)?.allowVolumeExpansion === true;
}
