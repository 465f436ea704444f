import type { JsonObject } from "../api/json.ts";
import { metaSchema } from "../api/codec/meta-schema.ts";
import type { ObjectForm } from "../api/scheme/object-form.ts";
import { schemaType } from "./schema-type.ts";
import { structuralType } from "./structural-type.ts";
import type { ValueType } from "./value-type.ts";

const structuralTypes = new WeakMap<JsonObject, ValueType>();

/** Returns the type by which the fields of such documents are owned; compiled on first use. */
export function formType({ kind, schema }: ObjectForm): ValueType {
  if (kind === "struct") return schemaType(schema);
  let type = structuralTypes.get(schema);
  if (type === undefined) {
    type = structuralType(schema, schemaType(metaSchema("meta/v1.ObjectMeta")));
    structuralTypes.set(schema, type);
  }
  return type;
}
