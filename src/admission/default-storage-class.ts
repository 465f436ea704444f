import type { PersistentVolumeClaim } from "../api/types/core-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isObjectWrite } from "./attributes.ts";
import { defaultClasses } from "./default-class.ts";

const annotations = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
const claimClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Sets the default class of a claim that names none. The name "" requests volumes without a class. */
export function defaultStorageClass({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "DefaultStorageClass",
    admit(attributes) {
      const { operation, object } = attributes;
      if (operation !== "CREATE" || object === undefined) return;
      if (!isObjectWrite(attributes, { group: "", resource: "persistentvolumeclaims" }) || namesClass(object)) return;
      const classes = lookup.list({ group: "storage.k8s.io", resource: "storageclasses" }, "");
      const [newest] = defaultClasses(classes, annotations);
      const name = newest?.metadata.name;
      const claim = object as PersistentVolumeClaim;
      if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
    },
  };
}

function namesClass(claim: PersistentVolumeClaim): boolean {
  return claim.spec?.storageClassName !== undefined || claim.metadata.annotations?.[claimClassAnnotation] !== undefined;
}
