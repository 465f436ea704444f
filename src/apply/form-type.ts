import { metaSchema } from "../api/codec/meta-schema.ts";
import type { JsonObject } from "../api/json.ts";
import type { ObjectForm, StructuralForm } from "../api/scheme/object-form.ts";
import { schemaType } from "./schema-type.ts";
import { structuralType } from "./structural-type.ts";
import type { ValueType } from "./value-type.ts";

const structuralTypes = new WeakMap<StructuralForm, ValueType>();

/** Returns the type by which the fields of such documents are owned; compiled on first use. */
export function formType(form: ObjectForm): ValueType {
  if (form.kind === "struct") return schemaType(form.schema);
  let type = structuralTypes.get(form);
  if (type === undefined) {
    type = structuralType(form.schema as JsonObject, schemaType(metaSchema("meta/v1.ObjectMeta")));
    structuralTypes.set(form, type);
  }
  return type;
}
