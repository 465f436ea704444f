import { expect, test } from "bun:test";
import { decodeBody } from "../api/codec/stored-object.ts";
import type { Entry } from "../api/entry.ts";
import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";
import { toRevision } from "../api/revision.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { Scheme } from "../kinds/scheme.ts";
import { encodeForStore } from "../storage/encode-for-store.ts";
import { fillGap } from "../storage/resource-version-gap.ts";
import { DecodedBodies } from "./decoded-bodies.ts";

const info = Scheme.builtIn().find("", "v1", "configmaps") as ResourceInfo;
const managedFields = [{ manager: "m", operation: "Update", fieldsType: "FieldsV1", fieldsV1: { "f:data": {} } }];

function configMap(revision: number, text: string): KubeObject {
  const metadata: ObjectMeta = { name: "a", uid: "u", resourceVersion: String(revision), managedFields };
  return { apiVersion: "v1", kind: "ConfigMap", data: { text }, metadata };
}

function entryOf(object: KubeObject, number = Number(object.metadata.resourceVersion)): Entry {
  const { index, body } = encodeForStore(object, info);
  const revision = toRevision(number);
  return {
    key: "/registry/configmaps/default/a",
    revision,
    createRevision: revision,
    index,
    body: fillGap(body, revision),
  };
}

test("a body equals the stored one in values and order, and each caller has its own", () => {
  const bodies = new DecodedBodies();
  const object = configMap(2, "b");
  const [before, entry] = [entryOf(configMap(1, "a")), entryOf(object)];
  bodies.replace(entryOf(configMap(0, "")), before, configMap(1, "a"));
  bodies.replace(before, entry, object);
  object["data"] = { text: "changed" };
  const first = bodies.of(entry);
  first["data"] = {};
  (first["metadata"] as ObjectMeta).name = "changed";
  expect(JSON.stringify(bodies.of(entry))).toBe(JSON.stringify(decodeBody(entry)));
  expect(bodies.of(before)["data"]).toEqual({ text: "a" });
});

const isKept = (bodies: DecodedBodies, entry: Entry) =>
  (bodies.of(entry)["metadata"] as ObjectMeta).managedFields === managedFields;

test("the bodies that were stored last are kept", () => {
  const bodies = new DecodedBodies();
  const objects = Array.from({ length: 200 }, (_, at) => configMap(at + 2, "x".repeat(40_000)));
  const entries = objects.map((object) => entryOf(object));
  for (const [at, object] of objects.entries()) {
    const [first, second] = [entryOf(configMap(0, "")), entryOf(configMap(1, "a"))];
    bodies.replace(first, second, configMap(1, "a"));
    bodies.replace(second, entries[at] as Entry, object);
  }
  const kept = entries.filter((entry) => isKept(bodies, entry));
  const bytes = kept.reduce((sum, { body }) => sum + body.length, 0);
  expect(kept.map((entry) => entries.indexOf(entry))).toEqual(kept.map((_, at) => entries.length - kept.length + at));
  expect(bytes).toBeWithin(6 * 2 ** 20 - 50_000, 6 * 2 ** 20 + 1);
  const next = configMap(300, "b");
  const last = entries[199] as Entry;
  bodies.replace(last, entryOf(next), next);
  expect(isKept(bodies, last)).toBeFalse();
});

test("a body is kept from the second update on", () => {
  const bodies = new DecodedBodies();
  const [first, second, third] = [1, 2, 3].map((revision) => configMap(revision, "a")) as [
    KubeObject,
    KubeObject,
    KubeObject,
  ];
  const [created, updated, again] = [entryOf(first), entryOf(second), entryOf(third)];
  bodies.replace(created, updated, second);
  expect(isKept(bodies, updated)).toBeFalse();
  bodies.replace(updated, again, third);
  expect(isKept(bodies, again)).toBeTrue();
});
