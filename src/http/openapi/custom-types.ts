import { metaSchema } from "../../api/codec/meta-schema.ts";
import type { StructuralForm } from "../../api/scheme/object-form.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { customDefinition, customDefinitionName, customListDefinition } from "./custom-definitions.ts";
import type { CustomType } from "./document-type.ts";

/** Returns the type of the objects of a custom kind. */
export function customType(info: ResourceInfo, form: StructuralForm): CustomType {
  return {
    kind: "custom",
    name: customDefinitionName(info),
    refersTo: [metaSchema("meta/v1.ObjectMeta")],
    define: (dialect) => customDefinition(described(info), () => form.readSchema(), dialect),
  };
}

/** Returns the type of their lists. */
export function customListType(info: ResourceInfo, form: StructuralForm): CustomType {
  return {
    kind: "custom",
    name: customDefinitionName({ ...info, kind: info.listKind }),
    refersTo: [metaSchema("meta/v1.ListMeta"), customType(info, form)],
    *define(dialect) {
      yield;
      return customListDefinition(described(info), dialect);
    },
  };
}

function described({ group, version, kind, listKind, resource, selectableFields }: ResourceInfo) {
  return { group, version, kind, listKind, plural: resource, selectableFields: [...selectableFields.keys()] };
}
