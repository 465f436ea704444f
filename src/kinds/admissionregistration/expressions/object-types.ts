import type { ScalarKind, Schema, StructSchema } from "../../../api/schema/schema.ts";
import type { ObjectForm } from "../../../api/scheme/object-form.ts";
import {
  celTypes,
  declareType,
  providerOf,
  type RuleSchema,
  type TypeProvider,
  unescapeFieldName,
} from "../../../cel/index.ts";

const { boolType, bytesType, doubleType, dynType, intType, listOf, mapOf, stringType, structOf, timestampType } =
  celTypes;
type CelType = celTypes.CelType;

/** The type that expressions are checked against for one kind. */
export interface ObjectType {
  readonly type: CelType;
  readonly provider: TypeProvider;
}

/** Returns the type of the objects of a kind; undefined where expressions cannot see them. */
export function objectTypeOf(form: ObjectForm, kind: string): ObjectType | undefined {
  if (form.kind === "struct") return structObjectType(form.schema, kind);
  const declared = declareType(form.readSchema() as RuleSchema, true, kind);
  return declared === undefined ? undefined : { type: declared.cel, provider: providerOf(declared) };
}

/** Types of fields are resolved on first use, because a struct may contain itself. */
function structObjectType(root: StructSchema, kind: string): ObjectType {
  const structs = new Map<string, StructSchema | undefined>([[kind, root]]);
  const typeOf = (schema: Schema, name: string): CelType | undefined => {
    switch (schema.kind) {
      case "scalar":
        return scalarTypeOf(schema.scalar, () => declare(name, undefined));
      case "list": {
        const items = typeOf(schema.items, `${name}.@idx`);
        return items === undefined ? undefined : listOf(items);
      }
      case "map": {
        const values = typeOf(schema.values, `${name}.@elem`);
        return values === undefined ? undefined : mapOf(stringType, values);
      }
      case "struct":
        return declare(name, schema);
    }
  };
  const declare = (name: string, schema: StructSchema | undefined): CelType => {
    structs.set(name, schema);
    return structOf(name);
  };
  return {
    type: structOf(kind),
    provider: {
      findStruct: (name) => (structs.has(name) ? structOf(name) : undefined),
      findField(name, field) {
        if (name === kind && (field === "kind" || field === "apiVersion")) return stringType;
        const fields = structs.get(name)?.fields;
        const found = fields?.get(field) ?? fields?.get(unescapeFieldName(field) ?? field);
        return found === undefined ? undefined : typeOf(found.schema, `${name}.${field}`);
      },
    },
  };
}

/** Values whose schema names no type, such as quantities, cannot be seen. */
function scalarTypeOf(scalar: ScalarKind, emptyObject: () => CelType): CelType | undefined {
  switch (scalar) {
    case "string":
    case "duration":
      return stringType;
    case "bool":
      return boolType;
    case "int32":
    case "int64":
    case "uint8":
    case "uint32":
    case "uint64":
      return intType;
    case "float64":
      return doubleType;
    case "bytes":
      return bytesType;
    case "time":
    case "microTime":
      return timestampType;
    case "intOrString":
      return dynType;
    case "rawExtension":
    case "fieldsV1":
      return emptyObject();
    case "any":
    case "quantity":
      return undefined;
  }
}
