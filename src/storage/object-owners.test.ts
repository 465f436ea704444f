import { describe, expect, test } from "bun:test";
import { ownersInBody, ownersOf } from "./object-owners.ts";

const reference = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

test("flags that a reference leaves out are false", () => {
  expect(
    ownersOf([
      { ...reference, uid: "a" },
      { ...reference, uid: "b", controller: true, blockOwnerDeletion: false },
    ]),
  ).toEqual([
    { uid: "a", controller: false, blockOwnerDeletion: false },
    { uid: "b", controller: true, blockOwnerDeletion: false },
  ]);
});

test("no references and an empty list are both no owners", () => {
  expect(ownersOf(undefined)).toBeUndefined();
  expect(ownersOf([])).toBeUndefined();
});

describe("the owners in a body", () => {
  const prefix = '{"metadata":{"name":"a","resourceVersion":"';
  const suffix = `","ownerReferences":[${JSON.stringify({ ...reference, uid: "a", controller: true })}]},"spec":{}}`;
  const owner = { uid: "a", controller: true, blockOwnerDeletion: false };

  test("are found in one piece and in two", () => {
    expect(ownersInBody(Buffer.from(`${prefix}7${suffix}`))).toEqual([owner]);
    expect(ownersInBody(Buffer.from(prefix), Buffer.from(suffix))).toEqual([owner]);
  });

  test.each([
    ["a template", '{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"ownerReferences":[{"uid":"a"}]}}}}'],
    ["a note", JSON.stringify({ metadata: { annotations: { note: '"ownerReferences":[' } } })],
    ["no JSON", '"ownerReferences":['],
    ["nothing", ""],
  ])("are none in %s", (_, body) => {
    expect(ownersInBody(Buffer.from(body))).toBeUndefined();
  });
});
