import { expect, test } from "bun:test";
import fc from "fast-check";
import type { KubeObject } from "../api/object-meta.ts";
import { toRevision } from "../api/revision.ts";
import { storedBody } from "./encode-for-store.ts";
import { uidInBody, uidOf } from "./object-uid.ts";
import { fillGap } from "./resource-version-gap.ts";

const bodyOf = (metadata: object) => {
  const { prefix, suffix } = storedBody({ apiVersion: "v1", kind: "ConfigMap", metadata } as KubeObject);
  return { prefix, body: fillGap({ prefix, suffix }, toRevision(7)) };
};

test("a body names the uid of its object, and so does the part before its revision", () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('"uid":"x', '","resourceVersion":"', '\\","uid":"', '{"'));
  // Other uids may be spelled with escapes, which remain.
  const plain = fc.stringMatching(/^[-\w:é]*$/u);
  fc.assert(
    fc.property(text, text, plain, (name, namespace, uid) => {
      const { prefix, body } = bodyOf({ name, namespace, uid, ownerReferences: [{ uid: "owner" }] });
      expect([uidInBody(prefix), uidInBody(body)]).toEqual([uid, uid]);
    }),
  );
});

test.each([
  ["without a uid", bodyOf({ name: "a", ownerReferences: [{ uid: "owner" }] }).body],
  ["without metadata", bodyOf({}).body],
  ["that is no object", Buffer.from("k8s:enc:aesgcm:v1:one:")],
  ["that is empty", Buffer.alloc(0)],
])("a body %s names none", (_, body) => {
  expect(uidInBody(body)).toBeUndefined();
});

test("an index that has a uid is right", () => {
  const { body } = bodyOf({ name: "a", uid: "in the body" });
  const index = { apiVersion: "v1", labels: undefined, fields: undefined, owners: undefined };
  expect(uidOf({ index: { ...index, uid: "in the index" }, body })).toBe("in the index");
  expect(uidOf({ index: { ...index, uid: undefined }, body })).toBe("in the body");
});
