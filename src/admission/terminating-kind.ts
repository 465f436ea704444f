import { readDefinition } from "../kinds/custom/definition.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { refuse } from "./attributes.ts";

const definitions = { group: "apiextensions.k8s.io", resource: "customresourcedefinitions" };

/** Refuses new objects of a kind whose definition is being deleted: they would never be removed. */
export function terminatingKind({ lookup }: { readonly lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "TerminatingKind",
    admit(attributes) {
      const { operation, requested, info } = attributes;
      const isCustom = requested.converter !== undefined;
      if (operation !== "CREATE" || !isCustom) return;
      const refusal = () => refuse(attributes, "create not allowed while custom resource definition is terminating");
      if (requested.isTerminating === true) throw refusal();
      attributes.dependsOn(() => {
        const definition = lookup.entry(definitions, "", `${info.resource}.${info.group}`);
        if (definition === undefined || readDefinition(definition).isDeleting) throw refusal();
        return definition;
      });
    },
  };
}
