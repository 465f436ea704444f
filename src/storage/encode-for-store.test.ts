import { describe, expect, test } from "bun:test";
import type { OwnerReference } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { Scheme } from "../kinds/scheme.ts";
import { encodeForStore } from "./encode-for-store.ts";

const info = Scheme.builtIn().find("", "v1", "configmaps") as ResourceInfo;

function encoded(metadata: { uid?: string; labels?: Record<string, string>; ownerReferences?: OwnerReference[] }) {
  return encodeForStore({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...metadata } }, info);
}

const owner: OwnerReference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "o1", controller: true };

describe("an object's index", () => {
  test("has its labels and its owners", () => {
    const { index } = encoded({ uid: "u", labels: { a: "b" }, ownerReferences: [owner] });
    // The body names the uid.
    expect(index).toMatchObject({ apiVersion: "v1", uid: undefined, labels: { a: "b" } });
    expect(index.owners).toEqual([{ uid: "o1", controller: true, blockOwnerDeletion: false }]);
  });

  test("has nothing for labels and owners that are empty", () => {
    const { index } = encoded({ labels: {}, ownerReferences: [] });
    expect([index.labels, index.owners]).toEqual([undefined, undefined]);
  });
});

test("a body has a place for the resourceVersion, and no type", () => {
  const { body } = encoded({ uid: "u", ownerReferences: [owner] });
  const text = `${Buffer.from(body.prefix)}7${Buffer.from(body.suffix)}`;
  expect(JSON.parse(text)).toEqual({
    metadata: { name: "a", uid: "u", resourceVersion: "7", ownerReferences: [owner] },
  });
});
