import { expect, test } from "bun:test";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { entriesOfScale, entriesThroughScale, type ReplicasPaths } from "./scale-entries.ts";

const paths: ReplicasPaths = new Map([
  ["apps/v1", ["spec", "replicas"]],
  ["apps/v0", undefined],
]);
const time = "2026-01-01T00:00:00Z";

function entry(manager: string, apiVersion: string, spec: object, more: object = {}): ManagedFieldsEntry {
  const fieldsV1 = { "f:spec": spec };
  return {
    manager,
    operation: "Apply",
    apiVersion,
    time,
    fieldsType: "FieldsV1",
    fieldsV1,
    ...more,
  } as ManagedFieldsEntry;
}

const owner = entry("owner", "apps/v1", { "f:replicas": {}, "f:paused": {} });
const other = entry("other", "apps/v1", { "f:paused": {} });

test("a Scale has the owners of the replicas", () => {
  const old = entry("old", "apps/v0", { "f:replicas": {} });
  expect(entriesOfScale([other, old, owner], paths)).toEqual([entry("owner", "autoscaling/v1", { "f:replicas": {} })]);
  expect(entriesOfScale([other], paths)).toBeUndefined();
});

test("an owner that the Scale keeps keeps its entry", () => {
  const written = [entry("owner", "autoscaling/v1", { "f:replicas": {} })];
  expect(entriesThroughScale([other, owner], written, paths, "apps/v1")).toEqual([other, owner]);
});

test("a new owner takes the replicas, and has no time yet where it had no entry", () => {
  const written = [entry("new", "autoscaling/v1", { "f:replicas": {} }, { subresource: "scale" })];
  const { time: _time, ...taken } = entry("new", "apps/v1", { "f:replicas": {} }, { subresource: "scale" });
  expect(entriesThroughScale([other, owner], written, paths, "apps/v1")).toEqual([
    taken,
    other,
    entry("owner", "apps/v1", { "f:paused": {} }),
  ]);
});

test("entries of unknown versions go, and those without the replicas stay", () => {
  const [unknown, old] = [entry("x", "apps/v9", { "f:paused": {} }), entry("old", "apps/v0", { "f:replicas": {} })];
  expect(entriesThroughScale([unknown, old], undefined, paths, "apps/v1")).toEqual([old]);
});
