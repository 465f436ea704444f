import { expect, test } from "bun:test";
import { leafFieldSet } from "./field-set.ts";
import { NodeShape, type Walk } from "./node-shapes.ts";

test("values of one shape get the same node", () => {
  const walk = () =>
    NodeShape.start.after("f:b", leafFieldSet).after("f:a", NodeShape.start.after("f:x", leafFieldSet).node(true));
  expect(walk().node(false)).toBe(walk().node(false));
  expect(walk().node(true)).toBe(walk().node(true));
  expect(walk().node(false).elements).toEqual(["f:a", "f:b"]);
});

test("a place knows whether its last part has been met before", () => {
  const place = NodeShape.start.after("k:a", leafFieldSet).after("k:b", leafFieldSet);
  expect(place.repeats).toBe(false);
  expect(place.after("k:c", leafFieldSet).repeats).toBe(false);
  expect(place.after("k:a", NodeShape.start.after("f:x", leafFieldSet).node(true)).repeats).toBe(true);
});

test("a value with very many parts has a node that is not remembered", () => {
  const walk = () => {
    let shape: Walk = NodeShape.start;
    for (let at = 0; at < 1_000; at++) shape = shape.after(`f:${at}`, leafFieldSet);
    return shape.node(false);
  };
  expect(walk()).not.toBe(walk());
  expect(walk().equals(walk())).toBe(true);
});

test("after very many shapes all are forgotten", () => {
  const first = NodeShape.start.after("f:a", leafFieldSet).node(false);
  for (let at = 0; at < 60_000; at++) NodeShape.start.after(`f:unique-${at}`, leafFieldSet);
  const again = NodeShape.start.after("f:a", leafFieldSet).node(false);
  expect(again).not.toBe(first);
  expect(again.equals(first)).toBe(true);
});
