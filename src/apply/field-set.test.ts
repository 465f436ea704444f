import { describe, expect, test } from "bun:test";
import { emptyFieldSet, FieldSet, fieldSetNode, leafFieldSet } from "./field-set.ts";
import { pathText } from "./path-element.ts";

const labels = ["f:metadata", "f:labels"];
const app = [...labels, "f:app"];
const tier = [...labels, "f:tier"];
const replicas = ["f:spec", "f:replicas"];

function texts(set: FieldSet): string[] {
  return set.paths().map(pathText);
}

test("a path that ends at a level is listed before those that go deeper", () => {
  expect(texts(FieldSet.of(app, replicas, ["f:spec"], labels))).toEqual([
    ".spec",
    ".metadata.labels",
    ".metadata.labels.app",
    ".spec.replicas",
  ]);
});

describe("operations", () => {
  const a = FieldSet.of(labels, app, replicas);
  const b = FieldSet.of(app, tier);
  test("union", () => expect(a.union(b).equals(FieldSet.of(labels, app, tier, replicas))).toBe(true));
  test("difference leaves parents and children alone", () => {
    expect(texts(a.difference(b))).toEqual([".metadata.labels", ".spec.replicas"]);
    expect(texts(FieldSet.of(app).difference(FieldSet.of(labels)))).toEqual([".metadata.labels.app"]);
  });
  test("recursive difference takes everything below along", () => {
    expect(texts(a.recursiveDifference(FieldSet.of(labels)))).toEqual([".spec.replicas"]);
    expect(texts(FieldSet.of(labels).recursiveDifference(FieldSet.of(app)))).toEqual([".metadata.labels"]);
  });
  test("intersection", () => expect(texts(a.intersection(b))).toEqual([".metadata.labels.app"]));
  test("meets and covers agree with intersection and union", () => {
    expect(a.meets(b)).toBe(true);
    expect(a.meets(FieldSet.of(tier))).toBe(false);
    expect(a.covers(FieldSet.of(app))).toBe(true);
    expect(a.covers(b)).toBe(false);
  });
  test("an unchanged set is returned itself", () => {
    expect(a.union(FieldSet.of(app))).toBe(a);
    expect(a.difference(FieldSet.of(tier))).toBe(a);
    expect(a.difference(a)).toBe(emptyFieldSet);
  });
});

test("a document has an owned parent marked with a dot, first", () => {
  const set = FieldSet.of(labels, app, ["f:spec", 'k:{"port":443}'], ["f:spec", 'k:{"port":80}']);
  expect(JSON.stringify(set.toDocument())).toBe(
    '{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{}}}',
  );
  expect(set.toDocument()).toBe(set.toDocument());
});

test("a node from parts in any order has them in wire order", () => {
  expect(fieldSetNode(false, ["f:b", "f:a"], [leafFieldSet, leafFieldSet]).elements).toEqual(["f:a", "f:b"]);
  expect(fieldSetNode(true, [], [])).toBe(leafFieldSet);
});

test("ownership of a node can be taken away and given back", () => {
  const node = FieldSet.of(app).withOwned(true);
  expect(node.owned).toBe(true);
  expect(node.withOwned(false).withOwned(true)).toBe(node);
});
