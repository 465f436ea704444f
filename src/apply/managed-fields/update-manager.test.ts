import { describe, expect, test } from "bun:test";
import { cloneJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../api/object-meta.ts";
import { samplePodSchema } from "../patch/sample-schema.ts";
import { updateManagersMax } from "./cap-managers.ts";
import { managerName } from "./manager-name.ts";
import { topLevelFieldSet, type UpdateWrite, updateManagedFields } from "./update-manager.ts";

const early = "2026-01-01T00:00:00Z";
const late = "2026-01-02T00:00:00Z";

function pod(spec: JsonObject, metadata: KubeObject["metadata"] = {}): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "n", uid: "u", ...metadata }, spec };
}

/** The object as the registry would store it after the write. */
function written(old: KubeObject | undefined, fresh: KubeObject, write: Partial<UpdateWrite> = {}): KubeObject {
  const entries = updateManagedFields({
    old,
    new: fresh,
    schema: samplePodSchema,
    manager: "alice",
    apiVersion: "v1",
    subresource: "",
    now: early,
    ...write,
  });
  const stored = cloneJson(fresh as unknown as JsonObject) as unknown as KubeObject;
  if (entries === undefined) delete stored.metadata.managedFields;
  else stored.metadata.managedFields = entries;
  return stored;
}

const fieldsOf = (object: KubeObject) =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [entry.manager, entry.fieldsV1?.["f:spec"] ?? {}]),
  );

describe("a create", () => {
  test("gives everything that is tracked to the creator, in the order of the wire", () => {
    const created = written(
      undefined,
      pod({ nodeName: "a" }, { labels: { app: "x" }, resourceVersion: "1", generation: 1 }),
    );
    expect(JSON.stringify(created.metadata.managedFields)).toBe(
      JSON.stringify([
        {
          manager: "alice",
          operation: "Update",
          apiVersion: "v1",
          time: early,
          fieldsType: "FieldsV1",
          fieldsV1: { "f:metadata": { "f:labels": { ".": {}, "f:app": {} } }, "f:spec": { "f:nodeName": {} } },
        },
      ]),
    );
  });

  test("ignores the managedFields of the body", () => {
    const forged = [{ manager: "eve", operation: "Apply" }] as unknown as ManagedFieldsEntry[];
    expect(fieldsOf(written(undefined, pod({ nodeName: "a" }, { managedFields: forged })))).toEqual({
      alice: { "f:nodeName": {} },
    });
  });

  test("of an object without tracked fields leaves no entry", () => {
    expect(written(undefined, pod({})).metadata.managedFields).toBeUndefined();
  });
});

describe("an update", () => {
  const base = written(undefined, pod({ nodeName: "a", hostNetwork: true, overhead: { x: "1" } }));
  const kept = (spec: JsonObject) => pod(spec, { managedFields: base.metadata.managedFields as ManagedFieldsEntry[] });

  test("takes changed fields from their owners and adds new ones", () => {
    const fresh = kept({ nodeName: "b", hostNetwork: true, overhead: { x: "1", y: "2" } });
    expect(fieldsOf(written(base, fresh, { manager: "bob", now: late }))).toEqual({
      alice: { "f:hostNetwork": {}, "f:overhead": { ".": {}, "f:x": {} } },
      bob: { "f:nodeName": {}, "f:overhead": { "f:y": {} } },
    });
  });

  test("takes removed fields from everyone", () => {
    expect(fieldsOf(written(base, kept({ nodeName: "a" }), { manager: "bob" }))).toEqual({
      alice: { "f:nodeName": {} },
    });
  });

  test("that changes nothing returns the entries as they are", () => {
    const fresh = kept({ overhead: { x: "1" }, hostNetwork: true, nodeName: "a" });
    expect(written(base, fresh, { manager: "bob", now: late }).metadata.managedFields).toEqual(
      base.metadata.managedFields as ManagedFieldsEntry[],
    );
  });

  test("of fields the writer owns already leaves its time alone", () => {
    const fresh = kept({ nodeName: "b", hostNetwork: true, overhead: { x: "1" } });
    expect(written(base, fresh, { now: late }).metadata.managedFields).toEqual(
      base.metadata.managedFields as ManagedFieldsEntry[],
    );
  });

  test("that grows the writer's set moves its time", () => {
    const fresh = kept({ nodeName: "a", hostNetwork: true, overhead: { x: "1", y: "2" } });
    expect(written(base, fresh, { now: late }).metadata.managedFields?.map(({ time }) => time)).toEqual([late]);
  });

  test("through a subresource has an entry of its own and ignores what the body says of managers", () => {
    const fresh = { ...kept({ nodeName: "a", hostNetwork: true, overhead: { x: "1" } }), status: { phase: "Running" } };
    fresh.metadata = { ...fresh.metadata, managedFields: [{}] as unknown as ManagedFieldsEntry[] };
    const entries = written(base, fresh, { subresource: "status" }).metadata.managedFields;
    expect(entries?.map(({ manager, subresource }) => [manager, subresource])).toEqual([
      ["alice", undefined],
      ["alice", "status"],
    ] as unknown as [string, string][]);
    expect(Object.keys(entries?.[1] as object).at(-1)).toBe("subresource");
  });

  test("does not own what its endpoint resets", () => {
    const fresh = { ...kept({ nodeName: "a", hostNetwork: true, overhead: { x: "1" } }), status: { phase: "Running" } };
    expect(written(base, fresh, { resetFields: topLevelFieldSet(["status"]) }).metadata.managedFields).toEqual(
      base.metadata.managedFields as ManagedFieldsEntry[],
    );
  });

  test("takes fields from an Apply entry too, and sorts Apply before Update", () => {
    const apply = {
      ...(base.metadata.managedFields?.[0] as ManagedFieldsEntry),
      manager: "zed",
      operation: "Apply" as const,
    };
    const old = { ...base, metadata: { ...base.metadata, managedFields: [apply] } };
    const stored = written(old, kept({ nodeName: "b", hostNetwork: true, overhead: { x: "1" } }), { manager: "bob" });
    // The body carries entries of its own, which replace the stored ones.
    expect(Object.keys(fieldsOf(stored))).toEqual(["alice", "bob"]);
    const silent = pod({ nodeName: "b", hostNetwork: true, overhead: { x: "1" } });
    expect(fieldsOf(written(old, silent, { manager: "bob" }))).toEqual({
      zed: { "f:hostNetwork": {}, "f:overhead": { ".": {}, "f:x": {} } },
      bob: { "f:nodeName": {} },
    });
  });
});

describe("the managedFields of a body", () => {
  const spec = { nodeName: "a", hostNetwork: true };
  const base = written(undefined, pod(spec));
  const cases: readonly [string, unknown, object][] = [
    ["that are missing keep the stored ones", undefined, { alice: { "f:nodeName": {}, "f:hostNetwork": {} } }],
    ["that are empty keep the stored ones", [], { alice: { "f:nodeName": {}, "f:hostNetwork": {} } }],
    ["that are one empty entry clear them", [{}], {}],
    [
      "that are malformed keep the stored ones",
      [{ manager: "eve", operation: "Update", fieldsV1: { x: 1 } }],
      { alice: { "f:nodeName": {}, "f:hostNetwork": {} } },
    ],
    [
      "that are well formed replace the stored ones",
      [{ manager: "eve", operation: "Update", fieldsType: "FieldsV1", fieldsV1: { "f:spec": { "f:nodeName": {} } } }],
      { eve: { "f:nodeName": {} } },
    ],
  ];
  test.each(cases)("%s", (_, sent, expected) => {
    const fresh = pod(spec, sent === undefined ? {} : { managedFields: sent as ManagedFieldsEntry[] });
    expect(fieldsOf(written(base, fresh, { manager: "bob" }))).toEqual(expected as Record<string, JsonObject>);
  });

  test("a reset gives the writer's own changes to the writer", () => {
    const fresh = pod({ ...spec, nodeName: "b" }, { managedFields: [{}] as unknown as ManagedFieldsEntry[] });
    expect(fieldsOf(written(base, fresh, { manager: "bob" }))).toEqual({ bob: { "f:nodeName": {} } });
  });
});

test("beyond ten updaters the oldest are merged", () => {
  let object = written(undefined, pod({ nodeName: "a" }));
  for (let at = 0; at < 15; at++) {
    const overhead = Object.fromEntries(Array.from({ length: at + 1 }, (_, key) => [`k${key}`, "1"]));
    const now = new Date(Date.parse(early) + at * 1_000).toISOString().replace(".000", "");
    object = written(object, pod({ nodeName: "a", overhead }), { manager: `m${at}`, now });
  }
  const managers = object.metadata.managedFields?.map(({ manager }) => manager);
  expect(managers?.length).toBe(updateManagersMax);
  expect(managers).toEqual(["ancient-changes", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14"]);
  expect(Object.keys((fieldsOf(object)["ancient-changes"] as JsonObject)["f:overhead"] as object)).toEqual([
    ".",
    "f:k0",
    "f:k1",
    "f:k2",
    "f:k3",
    "f:k4",
    "f:k5",
  ]);
});

describe("the name of a manager", () => {
  test.each([
    ["kubectl-edit", "kubectl/v1", "kubectl-edit"],
    ["", "kubectl/v1.36 (linux/amd64)", "kubectl"],
    ["", "curl", "curl"],
    ["", "", "unknown"],
    ["", "/x", "unknown"],
    ["", "a\u0000b/x", "ab"],
    ["", `${"é".repeat(100)}/x`, "é".repeat(64)],
  ])("of parameter %j and agent %j is %j", (parameter, agent, name) => {
    expect(managerName(parameter, agent)).toBe(name);
  });

  test("without an agent is unknown", () => expect(managerName("", undefined)).toBe("unknown"));
});
