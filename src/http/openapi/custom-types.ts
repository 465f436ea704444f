import { metaSchema } from "../../api/codec/meta-schema.ts";
import type { GroupVersionKind } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject } from "../../api/json.ts";
import type { StructuralForm } from "../../api/scheme/object-form.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { descriptionOf } from "./descriptions.ts";
import type { CustomType, Dialect, DocumentType } from "./document-type.ts";
import { publishedSchema } from "./published-schema.ts";

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const metadataDescription = `Standard object's metadata. More info: ${conventions}#metadata`;
const listMetadataDescription = `Standard list metadata. More info: ${conventions}#types-kinds`;

/** Returns the type of the objects of a custom kind. */
export function customType(info: ResourceInfo, form: StructuralForm): CustomType {
  return {
    kind: "custom",
    name: definitionName(info, info.kind),
    define: (dialect, refer) => objectDefinition(info, form, dialect, refer),
  };
}

/** Returns the type of their lists. */
export function customListType(info: ResourceInfo, form: StructuralForm): CustomType {
  return {
    kind: "custom",
    name: definitionName(info, info.listKind),
    define(dialect, refer) {
      const items = refer(customType(info, form));
      const metadata = metadataReference(refer, dialect, "meta/v1.ListMeta", listMetadataDescription);
      const description = `List of ${info.resource}. More info: ${conventions}`;
      return {
        description: `${info.listKind} is a list of ${info.kind}`,
        type: "object",
        required: ["items"],
        properties: { ...typeProperties(), items: { description, type: "array", items }, metadata },
        ...kindExtension({ ...info, kind: info.listKind }),
      };
    },
  };
}

/** `com.example.v1.Widget`: the group with its labels reversed, as generators of clients expect it. */
function definitionName({ group, version }: ResourceInfo, kind: string): string {
  return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
}

function objectDefinition(
  info: ResourceInfo,
  { schema }: StructuralForm,
  dialect: Dialect,
  refer: (type: DocumentType) => JsonObject,
): JsonObject {
  const published = publishedSchema(schema, dialect);
  const selectable = [...info.selectableFields.keys()].map((fieldPath) => ({ fieldPath }));
  const declared = isJsonObject(published["properties"]) ? published["properties"] : {};
  const metadata = metadataReference(refer, dialect, "meta/v1.ObjectMeta", metadataDescription);
  const isOpen = dialect === "v2" && schema["x-kubernetes-preserve-unknown-fields"] === true;
  return {
    ...published,
    ...(isOpen ? {} : { properties: { ...declared, ...typeProperties(), metadata } }),
    ...kindExtension(info),
    ...(selectable.length === 0 ? {} : { "x-kubernetes-selectable-fields": selectable }),
  };
}

function typeProperties(): JsonObject {
  return {
    apiVersion: { description: descriptionOf("meta/v1.TypeMeta", "apiVersion") ?? "", type: "string" },
    kind: { description: descriptionOf("meta/v1.TypeMeta", "kind") ?? "", type: "string" },
  };
}

function metadataReference(
  refer: (type: DocumentType) => JsonObject,
  dialect: Dialect,
  type: string,
  description: string,
): JsonObject {
  const reference = refer(metaSchema(type));
  return dialect === "v2" ? { description, ...reference } : { description, allOf: [reference] };
}

function kindExtension({ group, version, kind }: GroupVersionKind): JsonObject {
  return { "x-kubernetes-group-version-kind": [{ group, version, kind }] };
}
