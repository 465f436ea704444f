import { describe, expect, test } from "bun:test";
import { missingPermissions, permissionTexts } from "../../src/access/authorization/rbac/covers.ts";
import { decodeCbor, encodeCbor } from "../../src/api/codec/cbor.ts";
import { encodeDecoded } from "../../src/api/codec/encode-object.ts";
import { parseJson } from "../../src/api/codec/json.ts";
import { decodeMessage, encodeMessage } from "../../src/api/codec/protobuf.ts";
import { parseYaml, stringifyYaml } from "../../src/api/codec/yaml.ts";
import { parseFieldSelector } from "../../src/api/field-selector.ts";
import { apiVersionOf } from "../../src/api/gvk.ts";
import type { JsonObject, JsonValue } from "../../src/api/json.ts";
import { matchesLabels, parseLabelSelector } from "../../src/api/label-selector.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { decodeTyped } from "../../src/api/schema/decode.ts";
import type { Field, ListSchema, MapSchema, ScalarKind, Schema, StructSchema } from "../../src/api/schema/schema.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import { type ResourceInfo, storedInfo } from "../../src/api/scheme/resource.ts";
import { applyJsonPatch } from "../../src/apply/patch/json-patch.ts";
import { applyMergePatch } from "../../src/apply/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../src/apply/patch/strategic-merge-patch.ts";
import { builtInKindOf } from "../../src/kinds/index.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { DeclarativeValidation } from "../../src/registry/declarative/declarative-validation.ts";
import { FieldOwnership } from "../../src/registry/field-ownership.ts";
import { strategyOf } from "../../src/registry/kind.ts";
import { objectProblems } from "../../src/registry/object-problems.ts";
import { cpuMs } from "../cpu-time.ts";
import { minimalObjects } from "./minimal-objects.ts";

/** Factor by which the input grows. Linear work takes 8 times as long, quadratic work 64 times. */
const growth = 8;
const ratioMax = 3 * growth;
/** A step of quadratic cost is slow in every attempt; one disturbed by other work is not. */
const attemptsMax = 3;
/** Durations below this are mostly noise. */
const noticeableMs = 30;
const repetitions = 3;

const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });

/** Returns the CPU time of one run, in milliseconds. */
function costMs(run: () => unknown): number {
  const before = cpuMs();
  run();
  return cpuMs() - before;
}

/** Returns the ratio of the costs for eight times the input; undefined if they are negligible. */
function ratioOf(size: number, prepare: (size: number) => () => unknown): number | undefined {
  let least: number | undefined;
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const ratio = measuredRatio(size, prepare);
    if (ratio === undefined || ratio < ratioMax) return ratio;
    least = Math.min(ratio, least ?? ratio);
  }
  return least;
}

/**
 * Compares one run with the large input with eight runs with the small one, so that both take about as long and collect
 * as much garbage if the work is linear. They take turns, because code becomes faster as it runs. The minimum of a few
 * turns is least affected by other work.
 */
function measuredRatio(size: number, prepare: (size: number) => () => unknown): number | undefined {
  const large = prepare(growth * size);
  const small = prepare(size);
  large();
  let largeMs = Number.POSITIVE_INFINITY;
  let smallMs = Number.POSITIVE_INFINITY;
  for (let count = 0; count < repetitions; count++) {
    largeMs = Math.min(largeMs, costMs(large));
    if (largeMs < noticeableMs) return undefined;
    smallMs = Math.min(
      smallMs,
      costMs(() => times(growth, small)),
    );
  }
  return (growth * largeMs) / Math.max(smallMs, noticeableMs / 4);
}

function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function keyed(count: number, value: (at: number) => JsonValue = () => "v"): JsonObject {
  return Object.fromEntries(times(count, (at) => [`k${at}`, value(at)]));
}

const bytes = (text: string) => new TextEncoder().encode(text);
const configMap = scheme.typeSchema("core/v1.ConfigMap");
const pod = scheme.typeSchema("core/v1.Pod");

describe("eight times the input takes about eight times as long", () => {
  const works: readonly (readonly [name: string, size: number, prepare: (size: number) => () => unknown])[] = [
    ["JSON", 10_000, (size) => fixed(bytes(JSON.stringify(keyed(size))), (text) => parseJson(text, { strict: false }))],
    [
      "JSON with repeated keys",
      10_000,
      (size) => fixed(bytes(`{${times(size, () => '"a":1').join()}}`), (text) => parseJson(text, { strict: true })),
    ],
    ["YAML", 2_000, (size) => fixed(bytes(stringifyYaml(keyed(size))), (text) => parseYaml(text, { strict: true }))],
    [
      "YAML with repeated keys behind many lines",
      20_000,
      (size) =>
        fixed(bytes(`${"#\n".repeat(size)}${"a: 1\n".repeat(150)}`), (text) => parseYaml(text, { strict: true })),
    ],
    ["CBOR", 5_000, (size) => fixed(encodeCbor(keyed(size)), (item) => decodeCbor(item))],
    [
      "protobuf",
      5_000,
      (size) => fixed(encodeMessage(configMap, { data: keyed(size) }), (message) => decodeMessage(configMap, message)),
    ],
    [
      "unknown fields",
      5_000,
      (size) => fixed(keyed(size), (document) => decodeTyped(configMap, document, { kind: "ConfigMap" })),
    ],
    [
      "unknown fields of many structs",
      2_000,
      (size) => {
        const containers = times(size, (at) => ({ name: `c${at}`, other: 1 }));
        return () => decodeTyped(pod, { spec: { containers } }, { kind: "Pod" });
      },
    ],
    ["a merge patch", 5_000, (size) => fixed(keyed(size), (patch) => applyMergePatch({ ...patch, a: "b" }, patch))],
    [
      "a strategic merge patch of a list with a merge key",
      1_000,
      (size) => {
        const containers = times(size, (at) => ({ name: `c${at}` }));
        const order = containers.toReversed();
        const patch = { spec: { containers, "$setElementOrder/containers": containers } };
        return () => applyStrategicMergePatch({ spec: { containers: order } }, patch, pod);
      },
    ],
    [
      "a strategic merge patch of a list of scalars",
      2_000,
      (size) => {
        const finalizers = times(size, (at) => `example.com/${at}`);
        const metadata = { finalizers, "$deleteFromPrimitiveList/finalizers": finalizers.toReversed() };
        return () => applyStrategicMergePatch({ metadata: { finalizers } }, { metadata }, pod);
      },
    ],
    [
      "the operations of a JSON patch",
      1_000,
      (size) => {
        const patch = times(size, (at) => ({ op: "add", path: `/data/k${at}`, value: "v" }));
        return () => applyJsonPatch({ data: keyed(1_000) }, patch);
      },
    ],
    ["a label selector", 120, (size) => fixed(times(size, (at) => `k${at}!=v`).join(), parseLabelSelector)],
    [
      "a set in a label selector",
      120,
      (size) =>
        fixed(`k in (${times(size, (at) => `v${at}`).join()})`, (text) =>
          matchesLabels(parseLabelSelector(text), { k: "v" }),
        ),
    ],
    [
      "the text of permissions that are missing",
      5_000,
      (size) => {
        const wanted = { apiGroups: [""], resources: ["pods"], resourceNames: [], nonResourceURLs: [] };
        const missing = missingPermissions([], [{ ...wanted, verbs: times(size, (at) => `v${at}`) }]);
        return () => permissionTexts(missing);
      },
    ],
    ["a field selector", 120, (size) => fixed(times(size, (at) => `k${at}!=v`).join(), parseFieldSelector)],
  ];
  for (const [name, size, prepare] of works) {
    test(name, () => expect(ratioOf(size, prepare) ?? 0).toBeLessThan(ratioMax));
  }

  function fixed<T>(input: T, work: (input: T) => unknown): () => unknown {
    return () => work(input);
  }
});

describe("a JSON patch that moves large values repeatedly is rejected", () => {
  const data = keyed(20_000);
  const codeOf = (run: () => unknown): unknown => {
    try {
      run();
      return 200;
    } catch (error) {
      return (error as { status?: { code?: number } }).status?.code;
    }
  };
  test("a map", () => {
    const patch = times(10_000, (at) => ({
      op: "move",
      from: at % 2 === 0 ? "/a" : "/b",
      path: at % 2 === 0 ? "/b" : "/a",
    }));
    expect(codeOf(() => applyJsonPatch({ a: data }, patch))).toBe(413);
    expect(codeOf(() => applyJsonPatch({ a: data }, patch.slice(0, 20)))).toBe(200);
  });
  test("the items of a list", () => {
    const list = times(60_000, () => 1);
    const patch = times(10_000, () => ({ op: "remove", path: "/list/0" }));
    expect(codeOf(() => applyJsonPatch({ list }, patch))).toBe(413);
    expect(codeOf(() => applyJsonPatch({ list: list.slice(0, 20_000) }, patch.slice(0, 1_000)))).toBe(200);
  });
});

/** A struct of a kind, with its lists and maps that may be long. */
interface Spot {
  readonly info: ResourceInfo;
  readonly path: readonly string[];
  readonly fields: readonly LongField[];
}
type LongField = Field & { readonly schema: ListSchema | MapSchema };

const samples: Partial<Record<ScalarKind, (at: number) => JsonValue>> = {
  string: (at) => `x${at}`,
  bool: () => true,
  bytes: () => "AAAA",
  quantity: () => "1",
  time: () => "2026-01-01T00:00:00Z",
  microTime: () => "2026-01-01T00:00:00.000000Z",
  duration: () => "1s",
  any: () => ({ a: 1 }),
  rawExtension: () => ({ a: 1 }),
  fieldsV1: () => ({}),
};

/** Returns a value of the type that differs from those at other places. */
function sample(schema: Schema, at: number, depth = 0): JsonValue {
  switch (schema.kind) {
    case "scalar":
      return schema.values?.[0] ?? samples[schema.scalar]?.(at) ?? at + 1;
    case "list":
      return depth > 2 ? [] : [sample(schema.items, at, depth + 1)];
    case "map":
      return { [`k${at}`]: sample(schema.values, at, depth + 1) };
    case "struct": {
      const fields = [...schema.fields.values()].filter(
        (field) => field.schema.kind === "scalar" || (field.required && depth < 3),
      );
      return Object.fromEntries(fields.map((field) => [field.name, sample(field.schema, at, depth + 1)]));
    }
  }
}

const pathDepthMax = 8;

/** Returns every struct with lists or maps, each once even if many kinds have it. */
function spotsOf(info: ResourceInfo, seen: Set<StructSchema>): Spot[] {
  const spots: Spot[] = [];
  visit(structOf(info), []);
  return spots;

  function visit(struct: StructSchema, path: readonly string[]): void {
    if (path.length > pathDepthMax || seen.has(struct)) return;
    seen.add(struct);
    const fields = [...struct.fields.values()];
    const long = fields.filter((field): field is LongField => isLong(field.schema));
    for (const field of long) spots.push({ info, path, fields: [field] });
    if (long.length > 1) spots.push({ info, path, fields: long });
    for (const { name, schema } of fields) {
      const items = schema.kind === "list" ? schema.items : schema.kind === "map" ? schema.values : undefined;
      if (schema.kind === "struct") visit(schema, [...path, name]);
      if (items?.kind === "struct") visit(items, [...path, name, schema.kind === "list" ? "0" : "k0"]);
    }
  }
}

function isLong({ kind }: Schema): boolean {
  return kind === "list" || kind === "map";
}

const minimal = await minimalObjects("default");
const declarative = new DeclarativeValidation({ enabled: () => true, takeover: true, onMismatch() {} });

/** Returns an object of the kind with `size` items and keys at the spot. */
function longObject({ info, path, fields }: Spot, size: number): KubeObject {
  const { metadata = {}, fields: rest = {} } = minimal[`${info.group}/${info.kind}`] ?? {};
  const root = JSON.parse(JSON.stringify({ ...rest, metadata: { name: "test", ...metadata } })) as JsonObject;
  const each = Math.ceil(size / Math.min(fields.length, 3));
  const owner = reach(root, path, structOf(info));
  for (const { name, schema } of fields) {
    owner[name] =
      schema.kind === "list"
        ? times(each, (at) => sample(schema.items, at))
        : keyed(each, (at) => sample(schema.values, at));
  }
  const { object } = info.form.decode(root, { kind: info.kind });
  return { metadata: {}, ...object, kind: info.kind, apiVersion: apiVersionOf(info) } as unknown as KubeObject;
}

/** Returns the struct at the path. Creates it if it is missing. */
function reach(root: JsonObject, path: readonly string[], schema: Schema): JsonObject {
  let at = root;
  let type = schema;
  for (const step of path) {
    type =
      type.kind === "struct"
        ? (type.fields.get(step)?.schema as Schema)
        : type.kind === "list"
          ? type.items
          : (type as MapSchema).values;
    const made: JsonValue =
      type.kind === "list"
        ? [sample(type.items, 0)]
        : type.kind === "map"
          ? { k0: sample(type.values, 0) }
          : sample(type, 0);
    at = (at[step] ??= made) as JsonObject;
  }
  return at;
}

function reversedAt(object: KubeObject, { path, fields }: Spot): KubeObject {
  const copy = structuredClone(object);
  let at = copy as unknown as JsonObject;
  for (const step of path) at = (at[step] ?? {}) as JsonObject;
  for (const { name } of fields) {
    const list = at[name];
    if (Array.isArray(list)) list.reverse();
  }
  return copy;
}

describe("checks, comparisons and tables of objects take time in proportion to each list and map", () => {
  const seen = new Set<StructSchema>();
  const size = 250;
  for (const served of scheme.resources) {
    if (served.virtual || storedInfo(served) !== served) continue;
    // One test for each of them, because all of a Pod's take longer than a test may on a busy machine.
    for (const spot of spotsOf(served, seen)) {
      const fields = spot.fields.map(({ name }) => name).join(" and ");
      test(`${apiVersionOf(served)} ${[served.kind, ...spot.path].join(".")}: ${fields}`, () => {
        expect(slowWorks(spot)).toEqual([]);
      });
    }
  }

  function slowWorks(spot: Spot): string[] {
    const { info } = spot;
    const strategy = strategyOf(builtInKindOf(info));
    const rules = { strategy, info, version: info, declarative };
    const writer = { manager: "m", subresource: "", version: info, nowMs: 0 };
    const ownership = new FieldOwnership([info], () => undefined);
    const table = { kind: "table", version: "v1", includeObject: "None" } as const;
    const works: readonly (readonly [name: string, work: (object: KubeObject, old: KubeObject) => unknown])[] = [
      ["validation", (object) => objectProblems(object, undefined, rules)],
      ["validation of an update", (object, old) => objectProblems(object, old, rules)],
      ["warnings", (object, old) => strategy.warnings?.(object, old)],
      ["managed fields", (object, old) => ownership.afterUpdate(old, object, writer)],
      [
        "table",
        (object) => encodeDecoded(object, info, { mediaType: "application/json", transform: table, pretty: false }, 0),
      ],
    ];
    return works.flatMap(([name, work]) => {
      const ratio = ratioOf(size, (count) => {
        const old = longObject(spot, count);
        const object = reversedAt(old, spot);
        return () => work(object, old);
      });
      return ratio === undefined || ratio < ratioMax ? [] : [`${name} grows ${ratio.toFixed(0)}-fold`];
    });
  }
});
