import type { JsonValue } from "../json.ts";
import { goStructName, goTypeName } from "./decode-error.ts";
import type {
  DefaultRule,
  Field,
  ListSchema,
  MapSchema,
  ScalarKind,
  ScalarSchema,
  Schema,
  StructSchema,
} from "./schema.ts";

/** One field of a generated struct. Keys are short because there are thousands; scripts/README.md spells them out. */
export interface FieldEntry {
  readonly n: string;
  readonly t: string;
  readonly inline?: 1;
  readonly num?: number;
  readonly ptr?: 1;
  readonly oe?: 1;
  readonly oz?: 1;
  readonly req?: 1;
  readonly ps?: string;
  readonly pk?: string;
  readonly lt?: string;
  readonly lk?: readonly string[];
  readonly mt?: "atomic" | "granular";
  readonly def?: JsonValue;
  readonly im?: 1;
  readonly gate?: string;
  readonly dv?: readonly string[];
}
/**
 * A generated type: a struct has `fields`, an alias or closed set has `of`, and a type with its own JSON form is
 * `special`.
 */
export interface TypeEntry {
  readonly fields?: readonly FieldEntry[];
  readonly atomic?: 1;
  readonly of?: string;
  readonly values?: readonly string[];
  readonly special?: 1;
}
export type TypeEntries = Readonly<Record<string, TypeEntry>>;

const plainScalars: ReadonlySet<string> = new Set([
  "string",
  "bool",
  "int32",
  "int64",
  "uint8",
  "uint32",
  "uint64",
  "float64",
  "bytes",
  "any",
] satisfies ScalarKind[]);

export const specialScalars: Readonly<Record<string, ScalarKind>> = {
  "meta/v1.Time": "time",
  "meta/v1.MicroTime": "microTime",
  "meta/v1.Duration": "duration",
  "meta/v1.FieldsV1": "fieldsV1",
  "runtime.RawExtension": "rawExtension",
  "runtime.Unknown": "any",
  "resource.Quantity": "quantity",
  "intstr.IntOrString": "intOrString",
  "apiextensions/v1.JSON": "any",
  "apiextensions/v1.JSONSchemaPropsOrArray": "any",
  "apiextensions/v1.JSONSchemaPropsOrBool": "any",
  "apiextensions/v1.JSONSchemaPropsOrStringArray": "any",
};

/** Types that are either a schema or something else. */
const schemaAlternatives: ReadonlySet<string> = new Set([
  "apiextensions/v1.JSONSchemaPropsOrArray",
  "apiextensions/v1.JSONSchemaPropsOrBool",
  "apiextensions/v1.JSONSchemaPropsOrStringArray",
]);

/** Types whose fields name the document's own type and are not part of its content. */
const typeMetaTypes: ReadonlySet<string> = new Set(["meta/v1.TypeMeta", "runtime.TypeMeta"]);

/** Generated types, each compiled once on first use, so that every reference to a type is the same schema. */
export class TypeSchemas {
  readonly #entries: TypeEntries;
  readonly #rules: ReadonlyMap<string, DefaultRule>;
  readonly #compiled = new Map<string, Schema>();

  /** @param rules by type name; the rule of an inlined struct does not apply to its parents */
  constructor(entries: TypeEntries, rules: ReadonlyMap<string, DefaultRule> = new Map()) {
    this.#entries = entries;
    this.#rules = rules;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#entries, name);
  }

  /** @throws Error if the type is unknown or not a struct: a mistake in our data, never a client's */
  struct(name: string): StructSchema {
    const schema = this.resolve(name);
    if (schema.kind !== "struct") throw new Error(`type ${name} is a ${schema.kind}, not a struct`);
    return schema;
  }

  /** Returns the schema of a reference: `string`, `core/v1.Pod`, `[]X` or `map[K]V`. */
  resolve(ref: string): Schema {
    let schema = this.#compiled.get(ref);
    if (schema === undefined) {
      schema = this.#compile(ref);
      this.#compiled.set(ref, schema);
    }
    return schema;
  }

  entry(name: string): TypeEntry {
    const entry = Object.hasOwn(this.#entries, name) ? this.#entries[name] : undefined;
    if (entry === undefined) throw new Error(`type ${name} is not in the generated data`);
    return entry;
  }

  #compile(ref: string): Schema {
    if (plainScalars.has(ref)) return { kind: "scalar", scalar: ref as ScalarKind };
    if (ref.startsWith("[]")) return { kind: "list", items: this.resolve(ref.slice(2)) } satisfies ListSchema;
    if (ref.startsWith("map[")) {
      const keyEnd = ref.indexOf("]");
      const key = ref.slice("map[".length, keyEnd);
      return {
        kind: "map",
        values: this.resolve(ref.slice(keyEnd + 1)),
        ...(key === "string" ? {} : { goKeyType: goTypeName(key) }),
      } satisfies MapSchema;
    }
    const entry = this.entry(ref);
    if (entry.fields !== undefined) return new CompiledStruct(ref, entry, this, this.#rules.get(ref));
    if (entry.special === 1) return this.#special(ref);
    if (entry.of === undefined) throw new Error(`type ${ref} has neither fields nor a base type`);
    const base = this.resolve(entry.of);
    if (base.kind === "struct") return base;
    const goType = goTypeName(ref);
    if (entry.values === undefined || base.kind !== "scalar") return { ...base, goType };
    return { ...base, goType, values: entry.values } satisfies ScalarSchema;
  }

  #special(name: string): ScalarSchema {
    const scalar = specialScalars[name];
    if (scalar === undefined) throw new Error(`type ${name} has its own JSON form and no scalar kind`);
    if (!schemaAlternatives.has(name)) return { kind: "scalar", scalar, typeName: name };
    const struct = () => this.struct("apiextensions/v1.JSONSchemaProps");
    return { kind: "scalar", scalar, typeName: name, alternative: { struct, takesFlag: name.endsWith("OrBool") } };
  }
}

/** A struct that resolves its fields on first access: a type may refer to itself, and most types are never used. */
class CompiledStruct implements StructSchema {
  readonly kind = "struct";
  readonly name: string;
  readonly atomic: boolean;
  readonly preserveUnknown = false;
  readonly typeMeta: boolean;
  readonly defaultRule?: DefaultRule;
  readonly #entry: TypeEntry;
  readonly #types: TypeSchemas;
  #fields: ReadonlyMap<string, Field> | undefined;
  #protoInline: ReadonlyMap<number, StructSchema> | undefined;

  constructor(name: string, entry: TypeEntry, types: TypeSchemas, rule: DefaultRule | undefined) {
    this.name = name;
    if (rule !== undefined) this.defaultRule = rule;
    this.atomic = entry.atomic === 1;
    this.typeMeta = entry.fields?.some(isTypeMeta) ?? false;
    this.#entry = entry;
    this.#types = types;
  }

  get fields(): ReadonlyMap<string, Field> {
    this.#fields ??= this.#compileFields();
    return this.#fields;
  }

  get protoInline(): ReadonlyMap<number, StructSchema> {
    this.#protoInline ??= this.#compileProtoInline();
    return this.#protoInline;
  }

  #compileFields(): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>();
    for (const entry of this.#entry.fields ?? []) {
      if (isTypeMeta(entry)) continue;
      if (entry.inline !== 1) {
        fields.set(entry.n, compileField(entry, this.#types.resolve(entry.t)));
        continue;
      }
      for (const field of this.#types.struct(entry.t).fields.values()) {
        const embeddedIn = [goStructName(entry.t), ...(field.embeddedIn ?? [])];
        const protoInlined = field.protoInlined || entry.num !== undefined;
        fields.set(field.name, { ...field, embeddedIn, protoInlined });
      }
    }
    return fields;
  }

  #compileProtoInline(): ReadonlyMap<number, StructSchema> {
    const inlined = new Map<number, StructSchema>();
    for (const entry of this.#entry.fields ?? []) {
      if (entry.inline !== 1 || isTypeMeta(entry)) continue;
      if (entry.num !== undefined) inlined.set(entry.num, this.#types.struct(entry.t));
    }
    return inlined;
  }
}

export function isTypeMeta(entry: FieldEntry): boolean {
  return entry.inline === 1 && typeMetaTypes.has(entry.t);
}

function compileField(entry: FieldEntry, schema: Schema): Field {
  return {
    name: entry.n,
    schema,
    number: entry.num ?? 0,
    protoInlined: false,
    pointer: entry.ptr === 1,
    omitEmpty: entry.oe === 1,
    omitZero: entry.oz === 1,
    required: entry.req === 1,
    patchStrategy: entry.ps === undefined ? [] : (entry.ps.split(",") as Field["patchStrategy"]),
    patchMergeKey: entry.pk,
    listType: (entry.lt ?? "atomic") as Field["listType"],
    ...(entry.lt === undefined ? { impliesListType: true } : {}),
    listMapKeys: entry.lk ?? [],
    mapType: entry.mt,
    default: entry.def,
    immutable: entry.im === 1,
    gates: entry.gate === undefined ? [] : entry.gate.split(","),
    ...(entry.dv === undefined ? {} : { markers: entry.dv }),
  };
}
