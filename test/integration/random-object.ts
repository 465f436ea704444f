import type { JsonObject, JsonValue } from "../../src/api/json.ts";
import type { Field, ScalarKind, ScalarSchema, Schema, StructSchema } from "../../src/api/schema/schema.ts";

/** Returns a stream of numbers in [0, 1) that depends only on the seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

/** Maximum depth of structs. Deeper fields are absent, because many types contain themselves. */
const depthMax = 9;
const texts = ["a", "", "web-1", "ünïcödé ✓", "line\nbreak", '"quoted"\\', "__proto__", "constructor", "0", "true"];
const keys = ["a", "b.example.com/c", "constructor", "__proto__", "ключ", ""];

/**
 * Returns a random document of the type, with zero and extreme values among the others. It fits the schema but need not
 * make sense. Lists and maps are never empty, because binary forms cannot distinguish those from absent ones.
 */
export function randomObject(schema: StructSchema, chance: Chance, depth = 0): JsonObject {
  const object: JsonObject = {};
  // Deep structs are sparse. Otherwise, documents would grow exponentially with their depth.
  const density = 0.9 / (1 + depth * 0.35);
  for (const field of schema.fields.values()) {
    if (chance.next() > density) continue;
    const value = fieldValue(schema, field, chance, depth);
    if (value !== undefined) object[field.name] = value;
  }
  return object;
}

function fieldValue(parent: StructSchema, field: Field, chance: Chance, depth: number): JsonValue | undefined {
  if (parent.name === "apiextensions/v1.JSONSchemaProps") {
    const either = schemaOrOther[field.name];
    if (either !== undefined) return chance.oneOf<JsonValue>(either);
  }
  return valueOf(field.schema, chance, depth);
}

/** Fields of a JSON schema that are a schema or another type. */
const schemaOrOther: Readonly<Record<string, JsonValue[]>> = {
  items: [{ type: "string" }, [{ type: "string" }, { format: "int32" }]],
  additionalItems: [{ type: "string" }, true, false],
  additionalProperties: [{ type: "string" }, true, false],
  dependencies: [{ a: ["b", "c"] }, { a: { type: "string" } }],
};

function valueOf(schema: Schema, chance: Chance, depth: number): JsonValue | undefined {
  switch (schema.kind) {
    case "struct":
      return depth >= depthMax ? undefined : randomObject(schema, chance, depth + 1);
    case "list": {
      const items = Array.from({ length: 1 + chance.below(2) }, () => valueOf(schema.items, chance, depth + 1));
      return items.includes(undefined) ? undefined : (items as JsonValue[]);
    }
    case "map": {
      const map = Object.create(null) as JsonObject;
      for (let count = 1 + chance.below(3); count > 0; count--) {
        const value = valueOf(schema.values, chance, depth + 1);
        if (value === undefined) return undefined;
        map[chance.oneOf(keys)] = value;
      }
      return map;
    }
    case "scalar":
      return scalarOf(schema, chance);
  }
}

function scalarOf({ scalar, values }: ScalarSchema, chance: Chance): JsonValue {
  return chance.oneOf<JsonValue>(values !== undefined && values.length > 0 ? [...values] : samples[scalar]);
}

const samples: Readonly<Record<ScalarKind, readonly JsonValue[]>> = {
  string: texts,
  bool: [true, false],
  int32: [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)],
  int64: [0, 1, -1, 2 ** 40, 2n ** 63n - 1n, -(2n ** 63n)],
  uint8: [0, 1, 255],
  uint32: [0, 1, 2 ** 32 - 1],
  uint64: [0, 1, 2n ** 64n - 1n],
  float64: [0, 1, -1.5, 1e300, 5e-324],
  bytes: ["", "AA==", "//79", Buffer.from("text\u0000").toString("base64")],
  any: [1, "x", true, [1, { a: null }], { a: { b: [] } }],
  rawExtension: [{ apiVersion: "example.com/v1", kind: "Thing", spec: { a: [1, "x", null] } }, { a: 1 }],
  quantity: ["0", "1", "100m", "1500m", "1Gi", "-5", "12e6", "0.5"],
  intOrString: [0, 1, -1, 80, "", "http", "50%"],
  time: ["2030-01-02T03:04:05Z", "1999-12-31T23:59:59Z"],
  microTime: ["2030-01-02T03:04:05.000006Z", "2030-01-02T03:04:05.000000Z"],
  duration: ["0s", "1h30m0s", "-5s", "100ms"],
  fieldsV1: [{ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } }, {}],
};
