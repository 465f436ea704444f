import { compareTexts } from "../api/code-points.ts";
import { emptyJsonObject, isEmptyObject, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { fieldOf } from "./schema-type.ts";
import {
  deduced,
  type FieldType,
  type FieldTypes,
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
    const properties = isJsonObject(schema["properties"]) ? schema["properties"] : emptyJsonObject();
    const isOpen = !isObject && isEmptyObject(properties);
    const values = this.#values(schema["additionalProperties"], preservesUnknown || isOpen, preservesUnknown);
    return {
      atomic: schema["x-kubernetes-map-type"] === "atomic",
      fields: new DeclaredFields(properties, isObject ? this.#ofObjects() : [], (property) =>
        this.type(property, preservesUnknown),
      ),
      values,
      free: isOpen && (values === deduced || values?.scalar === "untyped"),
    };
  }

  /** Returns the fields that every object has. */
  #ofObjects(): FieldType[] {
    const types = ["apiVersion", "kind"].map((name) => fieldOf(name, scalarType("string"), undefined));
    return [...types, fieldOf("metadata", this.#metadata, undefined)];
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

/** Fields whose types are compiled when they are first asked for: an object may have few of thousands. */
class DeclaredFields implements FieldTypes {
  readonly #properties: JsonObject;
  readonly #compile: (property: JsonObject) => ValueType;
  readonly #known = new Map<string, FieldType>();

  /** @param given fields in place of declared ones */
  constructor(properties: JsonObject, given: readonly FieldType[], compile: (property: JsonObject) => ValueType) {
    this.#properties = properties;
    this.#compile = compile;
    for (const field of given) this.#known.set(field.element.slice(2), field);
  }

  get(name: string): FieldType | undefined {
    return this.#known.get(name) ?? this.#declared(name);
  }

  has(name: string): boolean {
    return this.#known.has(name) || isJsonObject(this.#property(name));
  }

  #declared(name: string): FieldType | undefined {
    const property = this.#property(name);
    if (!isJsonObject(property)) return undefined;
    const field = fieldOf(name, this.#compile(property), property["default"]);
    this.#known.set(name, field);
    return field;
  }

  #property(name: string): JsonValue | undefined {
    return Object.hasOwn(this.#properties, name) ? this.#properties[name] : undefined;
  }
}

function isEmbedded(schema: JsonObject): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

/** Text of a format that has another form inside the server counts as any scalar. */
function textType(format: JsonValue | undefined): ScalarType {
  return format === undefined || format === "" || format === "byte" ? "string" : "untyped";
}
