import { metaSchema } from "../../api/codec/meta-schema.ts";
import type { JsonObject } from "../../api/json.ts";
import type { StructuralForm } from "../../api/scheme/object-form.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { customDefinitionName, customDefinitions } from "./custom-definitions.ts";
import type { CustomType, Dialect } from "./document-type.ts";

/** Returns the type of the objects of a custom kind. */
export function customType(info: ResourceInfo, form: StructuralForm): CustomType {
  const name = customDefinitionName(info);
  return {
    kind: "custom",
    name,
    define(dialect, refer) {
      refer(metaSchema("meta/v1.ObjectMeta"));
      return definitionsOf(info, form, dialect)[name] as JsonObject;
    },
  };
}

/** Returns the type of their lists. */
export function customListType(info: ResourceInfo, form: StructuralForm): CustomType {
  const name = customDefinitionName({ ...info, kind: info.listKind });
  return {
    kind: "custom",
    name,
    define(dialect, refer) {
      refer(metaSchema("meta/v1.ListMeta"));
      refer(customType(info, form));
      return definitionsOf(info, form, dialect)[name] as JsonObject;
    },
  };
}

function definitionsOf(info: ResourceInfo, { schema }: StructuralForm, dialect: Dialect): JsonObject {
  const { group, version, kind, listKind, resource } = info;
  const selectableFields = [...info.selectableFields.keys()];
  const type = { group, version, kind, listKind, plural: resource, schema, selectableFields };
  return customDefinitions({ ...type, preservesUnknownFields: false }, dialect);
}
