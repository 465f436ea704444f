import type { Ingress } from "../api/types/networking-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isObjectWrite } from "./attributes.ts";
import { defaultClasses } from "./default-class.ts";

const defaultAnnotation = "ingressclass.kubernetes.io/is-default-class";
const ingressClassAnnotation = "kubernetes.io/ingress.class";

/** Sets the default class of an Ingress that names none; the newest of several. */
export function defaultIngressClass({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "DefaultIngressClass",
    admit(attributes) {
      const { operation, object } = attributes;
      if (operation !== "CREATE" || object === undefined) return;
      if (!isObjectWrite(attributes, { group: "networking.k8s.io", resource: "ingresses" }) || namesClass(object))
        return;
      const classes = lookup.list({ group: "networking.k8s.io", resource: "ingressclasses" }, "");
      const [newest] = defaultClasses(classes, [defaultAnnotation]);
      const name = newest?.metadata.name;
      const ingress = object as Ingress;
      if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
    },
  };
}

function namesClass(ingress: Ingress): boolean {
  return (
    ingress.spec?.ingressClassName !== undefined || ingress.metadata.annotations?.[ingressClassAnnotation] !== undefined
  );
}
