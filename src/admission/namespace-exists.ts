import { status } from "../api/status.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isResource } from "./attributes.ts";

const namespaces = { group: "", resource: "namespaces" };

/** Rejects every write in a namespace that does not exist, even a deletion. */
export function namespaceExists({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "NamespaceExists",
    validate(attributes) {
      const { namespace } = attributes;
      if (namespace === "" || isResource(attributes, namespaces.group, namespaces.resource)) return;
      if (lookup.get(namespaces, "", namespace) === undefined)
        throw status.notFound({ ...namespaces, name: namespace });
    },
  };
}
