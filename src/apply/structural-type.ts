import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { fieldOf } from "./schema-type.ts";
import { compareTexts } from "./text-order.ts";
import {
  deduced,
  type FieldType,
  type ListType,
  type MapType,
  type ScalarType,
  scalarType,
  untypedAtomic,
  type ValueType,
} from "./value-type.ts";

/**
 * The type of a custom kind's document.
 * @param schema the `openAPIV3Schema` of one version, which must be structural
 * @param metadata the type of `metadata`, here and in embedded objects
 * @param preservesUnknown keeps undeclared fields everywhere (the definition's `preserveUnknownFields`)
 */
export function structuralType(schema: JsonObject, metadata: ValueType, preservesUnknown = false): ValueType {
  const map = new Compiler(metadata).map(schema, preservesUnknown || preserves(schema), true);
  return { scalar: undefined, list: undefined, map };
}

function preserves(schema: JsonObject): boolean {
  return schema["x-kubernetes-preserve-unknown-fields"] === true;
}

class Compiler {
  readonly #metadata: ValueType;

  constructor(metadata: ValueType) {
    this.#metadata = metadata;
  }

  /** @param inherited undeclared fields are kept all around this place, so they are inside of it */
  type(schema: JsonObject, inherited: boolean): ValueType {
    const preservesUnknown = inherited || preserves(schema);
    switch (schema["type"]) {
      case "object":
        return { scalar: undefined, list: undefined, map: this.map(schema, preservesUnknown, isEmbedded(schema)) };
      case "array":
        return { scalar: undefined, list: this.#list(schema, preservesUnknown), map: undefined };
      case "integer":
      case "number":
        return scalarType("numeric");
      case "boolean":
        return scalarType("boolean");
      case "string":
        return scalarType(textType(schema["format"]));
      default:
        return {
          scalar: "untyped",
          list: this.#list(schema, preservesUnknown),
          map: this.map(schema, preservesUnknown, isEmbedded(schema)),
        };
    }
  }

  map(schema: JsonObject, preservesUnknown: boolean, isObject: boolean): MapType {
    const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
    const fields = new Map<string, FieldType>();
    for (const name of Object.keys(properties)) {
      const property = properties[name];
      if (!isJsonObject(property)) continue;
      fields.set(name, fieldOf(name, this.type(property, preservesUnknown), property["default"]));
    }
    if (isObject) {
      for (const name of ["apiVersion", "kind"]) fields.set(name, fieldOf(name, scalarType("string"), undefined));
      fields.set("metadata", fieldOf("metadata", this.#metadata, undefined));
    }
    const values = this.#values(
      schema["additionalProperties"],
      preservesUnknown || fields.size === 0,
      preservesUnknown,
    );
    return {
      atomic: schema["x-kubernetes-map-type"] === "atomic",
      fields,
      values,
      free: fields.size === 0 && (values === deduced || values?.scalar === "untyped"),
    };
  }

  #values(additional: JsonValue | undefined, open: boolean, preservesUnknown: boolean): ValueType | undefined {
    if (isJsonObject(additional)) return this.type(additional, preservesUnknown);
    return additional === true || (additional === undefined && open) ? deduced : undefined;
  }

  #list(schema: JsonObject, preservesUnknown: boolean): ListType {
    const kind = schema["x-kubernetes-list-type"];
    const keys = schema["x-kubernetes-list-map-keys"];
    const declaredKeys = kind === "map" && Array.isArray(keys) ? keys.map(String) : [];
    const items = schema["items"];
    return {
      atomic: kind !== "set" && kind !== "map",
      keys: declaredKeys.toSorted(compareTexts),
      declaredKeys,
      items: isJsonObject(items) ? this.type(items, preservesUnknown) : untypedAtomic,
    };
  }
}

function isEmbedded(schema: JsonObject): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

/** Text of a format that has another form inside the server counts as any scalar. */
function textType(format: JsonValue | undefined): ScalarType {
  return format === undefined || format === "" || format === "byte" ? "string" : "untyped";
}
