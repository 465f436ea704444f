import type { GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { Field, ScalarKind, ScalarSchema, Schema, StructSchema } from "../../api/schema/schema.ts";
import { descriptionOf } from "./descriptions.ts";
import type { DocumentPart } from "./document-part.ts";
import type { CustomType, Dialect, DocumentType } from "./document-type.ts";
import { publishedTopology, publishedUnion } from "./published-extensions.ts";
import { openApiName } from "./schema-name.ts";

/** Every top-level type, with all group versions that serve it. */
export type KindsByType = ReadonlyMap<string, readonly GroupVersionKind[]>;

const typeMetaProperties = ["apiVersion", "kind"] as const;
/** Kinds whose documents do not name their type. */
const untypedKinds: ReadonlySet<string> = new Set(["meta/v1.WatchEvent"]);
/** Fields that upstream publishes without a description, and so as a reference alone. */
const bareReferences: ReadonlySet<string> = new Set([
  "networking/v1.IngressRule.http",
  ...["additionalItems", "additionalProperties", "example", "externalDocs", "items", "not"].map(
    (field) => `apiextensions/v1.JSONSchemaProps.${field}`,
  ),
]);

/** Collects the definitions that a document refers to, each once. */
export class Definitions {
  readonly #dialect: Dialect;
  readonly #kinds: KindsByType;
  readonly #definitions = new Map<string, JsonObject | CustomType>();

  constructor(dialect: Dialect, kinds: KindsByType) {
    this.#dialect = dialect;
    this.#kinds = kinds;
  }

  /**
   * Returns the parts of a document with the definitions below `path`, sorted by name. Those of custom kinds may be large,
   * so each is made on demand, in steps.
   */
  *parts(path: readonly string[]): Generator<DocumentPart | undefined> {
    for (const [name, one] of [...this.#definitions].sort(([a], [b]) => (a < b ? -1 : 1))) {
      yield { path: [...path, name], value: isCustomType(one) ? yield* this.#define(one) : one };
    }
  }

  /** Returns `{"$ref": …}` to a type, and adds the type to the document. */
  reference(type: DocumentType): JsonObject {
    if (type.kind === "struct") return this.#refer(openApiName(type.name), () => this.#struct(type));
    if (!this.#definitions.has(type.name)) {
      this.#definitions.set(type.name, type);
      for (const other of type.refersTo) this.reference(other);
    }
    return this.#link(type.name);
  }

  /** Returns the free-form body of a PATCH. */
  patchReference(): JsonObject {
    return this.#refer(openApiName("meta/v1.Patch"), () => ({
      description: "A change to an object, in the format that the content type names.",
      type: "object",
    }));
  }

  /** Returns the answer of `/version`. */
  versionReference(): JsonObject {
    const properties = versionFields.map((name): [string, JsonObject] => [
      name,
      { type: "string", ...(this.#dialect === "v3" && !optionalVersionFields.has(name) ? { default: "" } : {}) },
    ]);
    return this.#refer("io.k8s.apimachinery.pkg.version.Info", () => ({
      description: "The version of the server, and of its build.",
      type: "object",
      properties: Object.fromEntries(properties),
      required: versionFields.filter((name) => !optionalVersionFields.has(name)),
    }));
  }

  *#define(type: CustomType): Generator<undefined, JsonObject> {
    const steps = type.define(this.#dialect);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      yield undefined;
    }
  }

  #refer(name: string, define: () => JsonObject): JsonObject {
    if (!this.#definitions.has(name)) {
      // A type may refer to itself, so add the entry before its fields.
      const definition: JsonObject = {};
      this.#definitions.set(name, definition);
      Object.assign(definition, define());
    }
    return this.#link(name);
  }

  #link(name: string): JsonObject {
    return { $ref: `${this.#dialect === "v2" ? "#/definitions/" : "#/components/schemas/"}${name}` };
  }

  #struct(schema: StructSchema): JsonObject {
    const properties: JsonObject = {};
    const kinds = this.#kinds.get(schema.name);
    if (schema.typeMeta === true || (kinds !== undefined && !untypedKinds.has(schema.name))) {
      for (const name of typeMetaProperties) {
        properties[name] = { ...described(descriptionOf("meta/v1.TypeMeta", name)), type: "string" };
      }
    }
    for (const field of schema.fields.values()) properties[field.name] = this.#property(schema, field);
    const required = [...schema.fields.values()].filter((field) => field.required).map((field) => field.name);
    return {
      ...described(descriptionOf(schema.name)),
      type: "object",
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
      ...(required.length === 0 ? {} : { required }),
      ...(schema.atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
      ...publishedUnion(schema.name),
      ...(kinds === undefined
        ? {}
        : { "x-kubernetes-group-version-kind": kinds.map(({ group, version, kind }) => ({ group, version, kind })) }),
    };
  }

  #property(parent: StructSchema, field: Field): JsonObject {
    const value = this.#value(field.schema);
    if (this.#dialect === "v2") {
      return {
        ...described(descriptionOf(parent.name, field.name)),
        ...value,
        ...topology(field),
        ...publishedTopology(parent.name, field.name),
      };
    }
    if (value["$ref"] !== undefined && bareReferences.has(`${parent.name}.${field.name}`)) return value;
    return {
      ...described(descriptionOf(parent.name, field.name)),
      ...(value["$ref"] === undefined ? value : { allOf: [value] }),
      ...defaulted(field.default ?? zeroOfField(field)),
      ...topology(field),
      ...publishedTopology(parent.name, field.name),
    };
  }

  /** An item of a list or a value of a map. */
  #element(schema: Schema): JsonObject {
    const value = this.#value(schema);
    const zero = zeroOf(schema);
    if (this.#dialect === "v2" || zero === undefined) return value;
    return { ...(value["$ref"] === undefined ? value : { allOf: [value] }), default: zero };
  }

  #value(schema: Schema): JsonObject {
    switch (schema.kind) {
      case "struct":
        return this.reference(schema);
      case "list":
        return { type: "array", items: this.#element(schema.items) };
      case "map":
        return { type: "object", additionalProperties: this.#element(schema.values) };
      case "scalar":
        return this.#scalar(schema);
    }
  }

  #scalar({ scalar, values, typeName }: ScalarSchema): JsonObject {
    switch (scalar) {
      case "string":
        return { type: "string", ...(values === undefined ? {} : { enum: values.toSorted() }) };
      case "bool":
        return { type: "boolean" };
      case "int32":
        return { type: "integer", format: "int32" };
      case "uint8":
      case "uint32":
      case "int64":
      case "uint64":
        return { type: "integer", format: "int64" };
      case "float64":
        return { type: "number", format: "double" };
      case "bytes":
        return { type: "string", format: "byte" };
      case "any":
        // Never an empty schema, because kubectl treats that as a missing one.
        return typeName === undefined ? { description: "Any value." } : this.#named(typeName, {});
      case "rawExtension":
        return this.#named("runtime.RawExtension", { type: "object" });
      case "fieldsV1":
        return this.#named("meta/v1.FieldsV1", { type: "object" });
      case "time":
        return this.#named("meta/v1.Time", { type: "string", format: "date-time" });
      case "microTime":
        return this.#named("meta/v1.MicroTime", { type: "string", format: "date-time" });
      case "duration":
        return this.#named("meta/v1.Duration", { type: "string" });
      case "quantity":
        return this.#named("resource.Quantity", this.#either(["string", "number"], undefined));
      case "intOrString":
        return this.#named("intstr.IntOrString", this.#either(["integer", "string"], "int-or-string"));
    }
  }

  #named(typeName: string, definition: JsonObject): JsonObject {
    return this.#refer(openApiName(typeName), () => ({ ...described(descriptionOf(typeName)), ...definition }));
  }

  /** Text or a number, which Swagger 2.0 cannot express. */
  #either(types: readonly string[], format: string | undefined): JsonObject {
    const rest = format === undefined ? {} : { format };
    return this.#dialect === "v2" ? { type: "string", ...rest } : { ...rest, oneOf: types.map((type) => ({ type })) };
  }
}

function isCustomType(definition: JsonObject | CustomType): definition is CustomType {
  return typeof definition["define"] === "function";
}

const versionFields = [
  "major",
  "minor",
  "emulationMajor",
  "emulationMinor",
  "minCompatibilityMajor",
  "minCompatibilityMinor",
  "gitVersion",
  "gitCommit",
  "gitTreeState",
  "buildDate",
  "goVersion",
  "compiler",
  "platform",
];
const optionalVersionFields: ReadonlySet<string> = new Set(versionFields.slice(2, 6));

function described(description: string | undefined): JsonObject {
  return description === undefined ? {} : { description };
}

function defaulted(value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { default: value };
}

/** Returns the value of a field that is not set, if it always has one. */
function zeroOfField({ schema, pointer, omitEmpty }: Field): JsonValue | undefined {
  if (pointer || (omitEmpty && schema.kind === "scalar")) return undefined;
  return zeroOf(schema);
}

/** Undefined for lists and maps, whose zero is null, and for types with a form of their own. */
function zeroOf(schema: Schema): JsonValue | undefined {
  if (schema.kind === "struct") return {};
  return schema.kind === "scalar" ? scalarZeros.get(schema.scalar) : undefined;
}

const scalarZeros: ReadonlyMap<ScalarKind, JsonValue> = new Map<ScalarKind, JsonValue>([
  ["string", ""],
  ["bool", false],
  ["int32", 0],
  ["int64", 0],
  ["uint8", 0],
  ["uint32", 0],
  ["uint64", 0],
  ["float64", 0],
]);

/** Returns how patches merge the field. */
function topology(field: Field): JsonObject {
  const list = field.schema.kind === "list";
  return {
    ...(list && field.impliesListType !== true ? { "x-kubernetes-list-type": field.listType } : {}),
    ...(list && field.listType === "map" ? { "x-kubernetes-list-map-keys": [...field.listMapKeys] } : {}),
    ...(list || field.mapType === undefined ? {} : { "x-kubernetes-map-type": field.mapType }),
    ...(field.patchMergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": field.patchMergeKey }),
    ...(field.patchStrategy.length === 0 ? {} : { "x-kubernetes-patch-strategy": field.patchStrategy.join(",") }),
  };
}
