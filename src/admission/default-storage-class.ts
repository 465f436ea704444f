import type { KubeObject } from "../api/object-meta.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";
import { defaultClasses } from "./default-class.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";

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
      if (name !== undefined) object["spec"] = { ...(object["spec"] as object), storageClassName: name };
    },
  };
}

function namesClass(claim: KubeObject): boolean {
  const { storageClassName } = (claim["spec"] ?? {}) as { storageClassName?: string };
  return storageClassName !== undefined || claim.metadata.annotations?.[claimClassAnnotation] !== undefined;
}
