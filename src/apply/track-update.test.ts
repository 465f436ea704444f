import { describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../api/json.ts";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { excludingFields } from "./field-filter.ts";
import { FieldSet } from "./field-set.ts";
import { sample, sampleVersion } from "./sample-type.ts";
import { trackUpdate } from "./track-update.ts";
import { runSteps, type TrackedVersion } from "./versions.ts";

const now = "2026-01-02T00:00:00Z";

interface Options {
  readonly manager?: string;
  readonly sent?: JsonValue;
  readonly version?: TrackedVersion;
  readonly versions?: readonly TrackedVersion[];
  readonly subresource?: string;
}

function track(
  live: JsonObject | undefined,
  object: JsonObject,
  options: Options = {},
): ManagedFieldsEntry[] | undefined {
  const { manager = "writer", sent, version = sampleVersion, versions = [version], subresource = "" } = options;
  const find = (apiVersion: string) => versions.find((served) => served.apiVersion === apiVersion);
  return runSteps(
    trackUpdate({ live, object, sent, manager, subresource, version, find, now }),
    ({ object: from, to }) => ({
      object: { ...from, apiVersion: to.apiVersion },
    }),
  );
}

function entry(manager: string, fieldsV1: JsonObject, apiVersion = "test/v1"): ManagedFieldsEntry {
  return { manager, operation: "Update", apiVersion, time: "2026-01-01T00:00:00Z", fieldsType: "FieldsV1", fieldsV1 };
}

function liveWith(spec: JsonObject, ...managedFields: ManagedFieldsEntry[]): JsonObject {
  return sample(spec, { uid: "u", managedFields });
}

test("a creation owns every field except those that identify the object", () => {
  const created = track(undefined, sample({ tags: ["a"] }, { uid: "u", labels: { app: "x" } }));
  expect(created).toEqual([
    {
      manager: "writer",
      operation: "Update",
      apiVersion: "test/v1",
      time: now,
      fieldsType: "FieldsV1",
      fieldsV1: {
        "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
        "f:spec": { ".": {}, "f:tags": { ".": {}, 'v:"a"': {} } },
      },
    },
  ]);
});

describe("an update", () => {
  const owner = entry("owner", { "f:spec": { "f:name": {}, "f:replicas": {} } });

  test("takes what it changes, and nobody owns what is gone", () => {
    const live = liveWith({ name: "a", replicas: 1 }, owner);
    const entries = track(live, sample({ replicas: 2 }, { uid: "u" }));
    expect(entries?.map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ["writer", { "f:spec": { "f:replicas": {} } }],
    ]);
  });

  test("that changes nothing keeps every entry as it is", () => {
    const entries = track(liveWith({ name: "a" }, owner), sample({ name: "a" }, { uid: "u" }), { manager: "owner" });
    expect(entries?.[0]).toEqual(owner);
  });

  test("adds to the entry that its manager has in this version", () => {
    const entries = track(liveWith({ name: "a" }, owner), sample({ name: "a", paused: true }, { uid: "u" }), {
      manager: "owner",
    });
    expect(entries).toEqual([
      { ...owner, time: now, fieldsV1: { "f:spec": { "f:name": {}, "f:paused": {}, "f:replicas": {} } } },
    ]);
  });

  test("does not own fields that its endpoint resets", () => {
    const version = { ...sampleVersion, resetFields: excludingFields(FieldSet.of(["f:spec"])) };
    const entries = track(liveWith({ name: "a" }, owner), sample({ name: "b" }, { uid: "u" }), { version });
    expect(entries?.[0]).toEqual(owner);
  });

  test("of a subresource takes no entries from the client", () => {
    const sent = [entry("other", { "f:spec": {} })] as unknown as JsonValue;
    const entries = track(liveWith({ name: "a" }, owner), sample({ name: "a" }, { uid: "u" }), {
      sent,
      subresource: "status",
    });
    expect(entries?.map(({ manager }) => manager)).toEqual(["owner"]);
  });

  test("of an object without a history records none", () => {
    expect(track(liveWith({}), sample({ name: "a" }, { uid: "u" }))).toBeUndefined();
  });

  test("that clears the entries leaves none", () => {
    expect(track(liveWith({ name: "a" }, owner), sample({ name: "b" }, { uid: "u" }), { sent: [{}] })).toBeUndefined();
  });

  test("drops entries of versions that are not served", () => {
    const live = liveWith({ name: "a" }, owner, entry("gone", { "f:spec": { "f:name": {} } }, "test/v0"));
    expect(track(live, sample({ name: "a" }, { uid: "u" }))?.map(({ manager }) => manager)).toEqual(["owner"]);
  });

  test("is compared in the version of each entry", () => {
    const beta = { ...sampleVersion, apiVersion: "test/v1beta1" };
    const other = entry("beta", { "f:spec": { "f:name": {} } }, "test/v1beta1");
    const live = liveWith({ name: "a" }, other);
    const entries = track(live, sample({ name: "b" }, { uid: "u" }), { versions: [sampleVersion, beta] });
    expect(entries?.map(({ manager }) => manager)).toEqual(["writer"]);
  });

  test("that does not have the form of its kind cannot be tracked", () => {
    expect(() => track(liveWith({}, owner), sample({ bogus: 1 }, { uid: "u" }))).toThrow(
      "failed to convert new object (default/one; test/v1, Kind=Sample) to smd typed: .spec.bogus: field not declared in schema",
    );
  });
});
