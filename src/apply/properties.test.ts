import { describe, expect, test } from "bun:test";
import { cloneJson, type JsonObject, type JsonValue } from "../api/json.ts";
import { applyObject } from "./apply-object.ts";
import { emptyFieldSet, type FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { storedEntries } from "./managed-fields.ts";
import { withNamedFields } from "./named-fields.ts";
import { pathText } from "./path-element.ts";
import { sample, sampleType, sampleVersion } from "./sample-type.ts";
import { trackUpdate } from "./track-update.ts";
import { runSteps } from "./versions.ts";

/** Properties of any sequence of writes. `SEED=<n>` repeats one. */
const seed = Bun.env.SEED === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(Bun.env.SEED);
const runs = 300;
const writesPerRun = 8;
const managers = ["a", "b", "c"] as const;

/** A stream of numbers in [0, 1) that depends on the seed alone (mulberry32). */
class Chance {
  #state: number;

  constructor(start: number) {
    this.#state = start >>> 0;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** Some of the values, in any order. */
  some<T>(values: readonly T[]): T[] {
    const left = values.filter(() => this.below(2) === 0);
    return this.below(2) === 0 ? left : left.reverse();
  }
}

type Maker = (chance: Chance) => JsonValue;
const fields: Readonly<Record<string, Maker>> = {
  replicas: (chance) => chance.below(3),
  name: (chance) => chance.oneOf(["x", "y"]),
  port: (chance) => chance.oneOf<JsonValue>([80, "http"]),
  plain: (chance) => chance.some(["a", "b"]),
  tags: (chance) => chance.some(["a", "b", "c"]),
  ports: (chance) => chance.some([80, 443]).map((port) => ({ port, protocol: chance.oneOf(["TCP", "UDP"]) })),
  parts: (chance) =>
    chance.some(["p", "q", "r"]).map((name) => ({
      name,
      ...(chance.below(2) === 0 ? {} : { size: chance.below(2) }),
      ...(chance.below(2) === 0 ? {} : { env: mapOf(chance) }),
    })),
  labels: (chance) => mapOf(chance),
  whole: (chance) => mapOf(chance),
  nested: (chance) => (chance.below(3) === 0 ? {} : { deep: { x: chance.below(2), y: chance.oneOf(["m", "n"]) } }),
  free: (chance) => ({ any: chance.oneOf<JsonValue>([1, "t", { k: 1 }, [1]]) }),
};

function mapOf(chance: Chance): JsonObject {
  return Object.fromEntries(chance.some(["k1", "k2", "k3"]).map((key) => [key, String(chance.below(2))]));
}

function body(chance: Chance, names: readonly string[] = Object.keys(fields)): JsonObject {
  return sample(Object.fromEntries(chance.some(names).map((name) => [name, (fields[name] as Maker)(chance)])));
}

const clock = { now: "2026-01-01T00:00:00Z" };
const find = (apiVersion: string) => (apiVersion === sampleVersion.apiVersion ? sampleVersion : undefined);
const onlyVersion = () => ({ error: "there is one version" });

/** The object after an apply; undefined for a conflict. */
function apply(
  live: JsonObject | undefined,
  applied: JsonObject,
  manager: string,
  force: boolean,
): JsonObject | undefined {
  const outcome = runSteps(
    applyObject({
      live,
      applied,
      kind: "Sample",
      manager,
      subresource: "",
      force,
      version: sampleVersion,
      find,
      ...clock,
      emptied: "empty",
    }),
    onlyVersion,
  );
  return outcome.kind === "conflict"
    ? undefined
    : stored(outcome.object ?? (live as JsonObject), outcome.managedFields);
}

function update(live: JsonObject | undefined, object: JsonObject, manager: string): JsonObject {
  const request = { live, object, sent: undefined, manager, subresource: "", version: sampleVersion, find, ...clock };
  return stored(object, runSteps(trackUpdate(request), onlyVersion));
}

function stored(object: JsonObject, managedFields: readonly JsonObject[] | undefined): JsonObject {
  const { managedFields: _, ...metadata } = object["metadata"] as JsonObject;
  const entries = managedFields === undefined ? {} : { managedFields: managedFields as JsonObject[] };
  return cloneJson({ ...object, metadata: { ...metadata, uid: "u", ...entries } });
}

/** Returns the fields of each manager, in any order: times differ with the order of writes. */
function ownership(object: JsonObject | undefined): string[] {
  return storedEntries(object)
    .map(({ manager, operation, fields: owned }) => `${manager} ${operation} ${JSON.stringify(owned.toDocument())}`)
    .sort();
}

function ownedBy(object: JsonObject): FieldSet {
  return storedEntries(object).reduce((all, entry) => all.union(entry.fields), emptyFieldSet);
}

/** Every path that the object has, containers and list items among them. */
function present(object: JsonObject): FieldSet {
  return withNamedFields(fieldsOf(object, sampleType), sampleType);
}

function specTexts(set: FieldSet): string[] {
  return set
    .paths()
    .filter(([first]) => first === "f:spec")
    .map(pathText);
}

function forAll(check: (chance: Chance) => void): void {
  for (let run = 0; run < runs; run++) check(new Chance(seed + run * 7_919));
}

function randomObject(chance: Chance): JsonObject {
  let live: JsonObject | undefined;
  for (let at = 0; at < writesPerRun; at++) {
    const manager = chance.oneOf(managers);
    live =
      chance.below(4) === 0
        ? update(live, body(chance), manager)
        : (apply(live, body(chance), manager, chance.below(2) === 0) ?? live);
  }
  return live ?? update(undefined, body(chance), "a");
}

describe(`after any writes, seed ${seed}`, () => {
  test("managers own only what the object has", () => {
    forAll((chance) => {
      const object = randomObject(chance);
      // A container is there even where its parts are what is owned.
      const has = present(object).union(fieldsOf(sample((object["spec"] as JsonObject | undefined) ?? {}), sampleType));
      const missing = specTexts(ownedBy(object)).filter(
        (path) => !pathExists(object, path) && !specTexts(has).includes(path),
      );
      expect(missing).toEqual([]);
    });
  });

  test("applies alone own together what the object has", () => {
    forAll((chance) => {
      let live: JsonObject | undefined;
      for (let at = 0; at < writesPerRun; at++)
        live = apply(live, body(chance), chance.oneOf(managers), true) as JsonObject;
      const object = live as JsonObject;
      const unowned = specTexts(fieldsOf(object, sampleType).difference(ownedBy(object)));
      // An empty container may stay behind when its last part is given up.
      expect(unowned.filter((path) => !isEmptyAt(object, path))).toEqual([]);
    });
  });

  test("applying the same again changes nothing", () => {
    forAll((chance) => {
      const applied = withoutEmptyLists(body(chance));
      const once = apply(randomObject(chance), applied, "a", true);
      expect(apply(once, applied, "a", false)).toEqual(once as JsonObject);
    });
  });

  test("applies of different fields commute", () => {
    const names = Object.keys(fields);
    const half = names.length / 2;
    forAll((chance) => {
      const live = update(undefined, sample({}), "creator");
      const [one, other] = [body(chance, names.slice(0, half)), body(chance, names.slice(half))];
      const there = apply(apply(live, one, "a", false), other, "b", false);
      const back = apply(apply(live, other, "b", false), one, "a", false);
      expect(there?.["spec"]).toEqual(back?.["spec"] as JsonObject);
      expect(ownership(there)).toEqual(ownership(back));
    });
  });

  test("a refused apply names the fields that a forced one takes over", () => {
    forAll((chance) => {
      const live = randomObject(chance);
      const applied = body(chance);
      if (apply(live, applied, "a", false) !== undefined) return;
      const forced = apply(live, applied, "a", true);
      expect(ownership(forced)).not.toEqual(ownership(live));
    });
  });
});

/** An empty list owns nothing, not even itself: upstream removes it together with the items that are given up. */
function withoutEmptyLists(document: JsonObject): JsonObject {
  const spec = Object.entries(document["spec"] as JsonObject).filter(
    ([, value]) => !(Array.isArray(value) && value.length === 0),
  );
  return { ...document, spec: Object.fromEntries(spec) };
}

/** Walks a path of messages through the object. */
function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  const steps = path.match(/\.[^.[\]]+|\[[^\]]*\]/g) ?? [];
  let value: JsonValue | undefined = object;
  for (const step of steps) {
    if (step.startsWith(".")) value = (value as JsonObject | null | undefined)?.[step.slice(1)];
    else value = Array.isArray(value) ? value.find((item) => matches(item, step.slice(1, -1))) : undefined;
  }
  return value;
}

function matches(item: JsonValue, key: string): boolean {
  if (key.startsWith("=")) return item === JSON.parse(key.slice(1));
  return key.split(",").every((pair) => {
    const [name = "", value = ""] = pair.split("=");
    return (item as JsonObject)[name] === JSON.parse(value);
  });
}

function pathExists(object: JsonObject, path: string): boolean {
  return valueAt(object, path) !== undefined;
}

function isEmptyAt(object: JsonObject, path: string): boolean {
  const value = valueAt(object, path);
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
