import { describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../api/json.ts";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { type ApplyOutcome, applyObject } from "./apply-object.ts";
import { sample, sampleVersion } from "./sample-type.ts";
import { runSteps } from "./versions.ts";

interface Options {
  readonly force?: boolean;
  readonly now?: string;
}
const first = "2026-01-01T00:00:00Z";
const later = "2026-01-02T00:00:00Z";

function apply(
  live: JsonObject | undefined,
  applied: JsonObject,
  manager: string,
  options: Options = {},
): ApplyOutcome {
  const { force = false, now = first } = options;
  const find = (apiVersion: string) => (apiVersion === sampleVersion.apiVersion ? sampleVersion : undefined);
  const steps = applyObject({
    live,
    applied,
    kind: "Sample",
    manager,
    subresource: "",
    force,
    version: sampleVersion,
    find,
    now,
    emptied: "empty",
  });
  return runSteps(steps, ({ object }) => ({ object }));
}

/** Applies one after the other, as a server would store them. */
function applied(...bodies: readonly [JsonObject, string, Options?][]): JsonObject {
  let live: JsonObject | undefined;
  for (const [body, manager, options] of bodies) {
    const outcome = apply(live, body, manager, options);
    if (outcome.kind === "conflict") throw new Error(outcome.message);
    const object = outcome.object ?? (live as JsonObject);
    const { managedFields: _, ...metadata } = object["metadata"] as JsonObject;
    const entries = outcome.managedFields;
    live = {
      ...object,
      metadata: { ...metadata, uid: "u", ...(entries === undefined ? {} : { managedFields: entries }) },
    };
  }
  return live as JsonObject;
}

function owners(object: JsonObject): [string | undefined, JsonValue | undefined][] {
  const { managedFields = [] } = object["metadata"] as { managedFields?: ManagedFieldsEntry[] };
  return managedFields.map(({ manager, fieldsV1 }) => [manager, (fieldsV1 as JsonObject)["f:spec"]]);
}

test("an apply creates what is not there", () => {
  const object = applied([sample({ replicas: 1, tags: ["a"] }), "a"]);
  expect(object["spec"]).toEqual({ replicas: 1, tags: ["a"] });
  expect(owners(object)).toEqual([["a", { "f:replicas": {}, "f:tags": { 'v:"a"': {} } }]]);
});

test("two managers share a field that they agree on", () => {
  const object = applied([sample({ replicas: 1 }), "a"], [sample({ replicas: 1 }), "b"]);
  expect(owners(object)).toEqual([
    ["b", { "f:replicas": {} }],
    ["a", { "f:replicas": {} }],
  ]);
});

test("a field of somebody else is a conflict, unless it is forced", () => {
  const live = applied([sample({ replicas: 1 }), "a"]);
  expect(apply(live, sample({ replicas: 2 }), "b")).toMatchObject({
    kind: "conflict",
    message: 'Apply failed with 1 conflict: conflict with "a": .spec.replicas',
  });
  const forced = applied([sample({ replicas: 1 }), "a"], [sample({ replicas: 2 }), "b", { force: true }]);
  expect(forced["spec"]).toEqual({ replicas: 2 });
  expect(owners(forced)).toEqual([["b", { "f:replicas": {} }]]);
});

test("a field that a manager leaves out is removed, unless another manager owns it", () => {
  const object = applied(
    [sample({ replicas: 1, name: "x", tags: ["a", "b"] }), "a"],
    [sample({ name: "x", tags: ["b"] }), "b"],
    [sample({}), "a"],
  );
  expect(object["spec"]).toEqual({ name: "x", tags: ["b"] });
});

test("the first apply to an object without a history gives that to whoever wrote it", () => {
  const live = sample({ replicas: 1, name: "x" }, { uid: "u" });
  const outcome = apply(live, sample({ replicas: 1 }), "a");
  expect(outcome.kind === "merged" && outcome.managedFields?.map(({ manager }) => manager)).toEqual([
    "a",
    "before-first-apply",
  ]);
  expect(apply(live, sample({ replicas: 2 }), "a")).toMatchObject({
    message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using test/v1: .spec.replicas',
  });
});

test("an apply that changes nothing has no object and keeps its time", () => {
  const live = applied([sample({ replicas: 1 }), "a"]);
  const outcome = apply(live, sample({ replicas: 1 }), "a", { now: later });
  expect(outcome).toMatchObject({ kind: "merged", object: undefined, managedFields: [{ time: first }] });
});

describe("bodies that are refused", () => {
  const live = applied([sample({ replicas: 1 }), "a"]);
  const refused: readonly [JsonObject, string][] = [
    [{ ...sample({}), kind: "Other" }, "invalid object type: test/v1, Kind=Other"],
    [{}, "invalid object type: /, Kind="],
    [sample({}, { managedFields: [] }), "metadata.managedFields must be nil"],
    [
      sample({ bogus: 1 }),
      "failed to create typed patch object (default/one; test/v1, Kind=Sample): .spec.bogus: field not declared in schema",
    ],
  ];
  for (const [body, message] of refused) {
    test(message, () => expect(() => apply(live, body, "a")).toThrow(message));
  }
});

describe("kubectl", () => {
  const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
  const written = JSON.stringify(sample({ replicas: 1, name: "x" }));
  const live = {
    ...sample({ replicas: 1, name: "changed" }, { uid: "u", annotations: { [lastApplied]: written } }),
  };

  test("takes what its client-side applies have set, and brings the annotation up to date", () => {
    const outcome = apply(live, sample({ replicas: 2 }), "kubectl");
    expect(outcome).toMatchObject({ kind: "merged", object: { spec: { replicas: 2, name: "changed" } } });
    const { object } = outcome as unknown as { object: { metadata: { annotations: Record<string, string> } } };
    expect(object.metadata.annotations[lastApplied]).toBe(
      '{"apiVersion":"test/v1","kind":"Sample","metadata":{"name":"one","namespace":"default"},"spec":{"replicas":2}}\n',
    );
  });

  test("does not take what has changed since", () => {
    expect(apply(live, sample({ replicas: 2, name: "y" }), "kubectl")).toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using test/v1: .spec.name',
    });
  });

  test("is the only manager that may", () => {
    expect(apply(live, sample({ replicas: 2 }), "other")).toMatchObject({ kind: "conflict" });
  });
});

test("a result with too many values is refused before it is tracked", () => {
  const keys = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`${prefix}${at}`, "v"]));
  const live = applied([sample({ labels: keys("a") }), "a"]);
  expect(() => apply(live, sample({ labels: keys("b") }), "b")).toThrow("limit is 64000 values");
});

test.each([true, false])(
  "a list of a first object whose items lack their key is refused as such, decoded: %p",
  (isDecoded) => {
    const version = { ...sampleVersion, isDecoded };
    const live = { metadata: { name: "a", namespace: "n" }, spec: { parts: [{}] } };
    const steps = applyObject({
      live,
      applied: { kind: "Sample", apiVersion: sampleVersion.apiVersion, metadata: { name: "a" } },
      kind: "Sample",
      manager: "one",
      subresource: "",
      force: false,
      version,
      find: () => version,
      now: first,
      emptied: "empty",
    });
    expect(() => runSteps(steps, ({ object }) => ({ object }))).toThrow(
      /^failed to create manager for existing fields: failed to convert new object \(n\/a; .*\) to smd typed: .spec.parts: element 0: associative/,
    );
  },
);
