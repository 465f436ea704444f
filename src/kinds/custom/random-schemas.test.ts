import { expect, test } from "bun:test";
import { cloneJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { StructuralSchema } from "../../api/structural/structural-schema.ts";
import { runToEnd } from "../../api/testing.ts";
import { validateDefinition } from "../apiextensions/validation/custom-resource-definition.ts";
import { InstanceValidator } from "./instance-validation.ts";

const schemasTried = 150;
const instancesTried = 5;
const depthMax = 4;
const names = ["a", "b", "spec", "status", "metadata", "kind", "__proto__", "constructor", "x.y"];
const texts = ["", "a", "abc", "10s", "2024-01-01", "2024-01-01T00:00:00Z", "a@b.c", "1.2.3.4", "(", "x".repeat(70)];
const types = ["object", "array", "string", "integer", "number", "boolean", "null", ""];
const formats = ["date", "date-time", "duration", "email", "ipv4", "uri", "byte", "int32", "odd"];
const rules = ["self == oldSelf", "self.a == 'x'", "size(self) > 1", "true", "self.", "self.all(x, x == x)"];

/** Deterministic random choices. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * bound);
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

function randomValue(random: Random, depth = 0): JsonValue {
  switch (random.below(depth < depthMax ? 9 : 7)) {
    case 0:
      return null;
    case 1:
      return random.chance(50);
    case 2:
      return random.below(10) - 5;
    case 3:
      return random.of([0.5, 1e20, -0.1, 2 ** 53, 9_223_372_036_854_775_807n]);
    case 7:
      return Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1));
    case 8:
      return randomFields(random, () => randomValue(random, depth + 1));
    default:
      return random.of(texts);
  }
}

function randomFields(random: Random, make: () => JsonValue): JsonObject {
  return Object.fromEntries(Array.from({ length: random.below(5) }, () => [random.of(names), make()]));
}

function randomSchema(random: Random, depth = 0): JsonObject {
  const schema: JsonObject = { type: depth === 0 ? "object" : random.of(types) };
  const below = () => randomSchema(random, depth + 1);
  const maybe = (percent: number, name: string, make: () => JsonValue) => {
    if (random.chance(percent)) schema[name] = make();
  };
  if (depth < depthMax) {
    maybe(60, "properties", () => randomFields(random, below));
    maybe(15, "additionalProperties", () => (random.chance(30) ? random.chance(50) : below()));
    maybe(50, "items", below);
    for (const name of ["anyOf", "oneOf", "allOf"]) maybe(8, name, () => [below(), below()]);
    maybe(5, "not", below);
  }
  for (const name of ["minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"]) {
    maybe(8, name, () => random.below(12) - 3);
  }
  maybe(10, "required", () => [random.of(names), random.of(names)]);
  maybe(10, "enum", () => [randomValue(random, 3), randomValue(random, 3)]);
  maybe(10, "default", () => randomValue(random, 2));
  maybe(10, "pattern", () => random.of(["^a+$", "(a+)+$", "(", "[0-9]{2,}"]));
  maybe(15, "format", () => random.of(formats));
  maybe(15, "nullable", () => true);
  maybe(8, "x-kubernetes-preserve-unknown-fields", () => random.chance(90));
  maybe(5, "x-kubernetes-embedded-resource", () => true);
  maybe(8, "x-kubernetes-int-or-string", () => true);
  maybe(10, "x-kubernetes-list-type", () => random.of(["set", "map", "atomic", "odd"]));
  maybe(8, "x-kubernetes-list-map-keys", () => [random.of(names)]);
  maybe(10, "x-kubernetes-validations", () => [
    { rule: random.of(rules), fieldPath: random.of(["", ".a", "['x.y']"]) },
  ]);
  return schema;
}

function definitionOf(openAPIV3Schema: JsonObject): KubeObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
    status: { storedVersions: ["v1"] },
  } as unknown as KubeObject;
}

test("random schemas and objects are judged without a crash", () => {
  const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 32);
  console.log(`replay: SEED=${seed} bun test src/kinds/custom/random-schemas.test.ts`);
  const random = new Random(seed);
  for (let tried = 0; tried < schemasTried; tried++) {
    const json = randomSchema(random);
    const old = definitionOf(randomSchema(random));
    runToEnd(validateDefinition(definitionOf(json), random.chance(30) ? old : undefined));
    const schema = new StructuralSchema(json);
    const validator = new InstanceValidator({ kind: "Widget", apiVersion: "example.com/v1", schema });
    for (let count = 0; count < instancesTried; count++) {
      const head = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" } };
      const fields = randomFields(random, () => randomValue(random)) as JsonObject;
      const object: JsonObject = cloneJson({ ...fields, ...head });
      schema.prune(object);
      expect(schema.prune(object)).toEqual([]);
      schema.dropNulls(object);
      schema.coerceEmbedded(object, { dropsInvalid: random.chance(50) });
      schema.applyDefaults(object);
      const once = cloneJson(object);
      schema.applyDefaults(object);
      expect(object).toEqual(once);
      const before: JsonObject = cloneJson({ ...fields, ...head, [random.of(names)]: randomValue(random) });
      runToEnd(validator.validate({ object }));
      runToEnd(validator.validate({ object, old: before }));
      runToEnd(validator.validateStatus({ object, old: before }));
    }
  }
});
