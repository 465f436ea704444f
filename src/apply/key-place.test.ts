import { expect, test } from "bun:test";
import { KeyPlace } from "./key-place.ts";

test("items with the same keys get the same place", () => {
  const walk = (port: number) => KeyPlace.start.after("port", port).after("protocol", "TCP");
  expect(walk(80)).toBe(walk(80));
  expect(walk(80).element).toBe('k:{"port":80,"protocol":"TCP"}');
  expect(walk(81).element).toBe('k:{"port":81,"protocol":"TCP"}');
  expect(KeyPlace.start.after("port", "80").element).toBe('k:{"port":"80"}');
});

test("long values and those that are neither text nor numbers are not remembered", () => {
  for (const value of ["x".repeat(1_000), true, null, { a: 1 }]) {
    const walk = () => KeyPlace.start.after("name", value);
    expect(walk()).not.toBe(walk());
    expect(walk().element).toBe(walk().element);
  }
});

test("after very many places all are forgotten", () => {
  const first = KeyPlace.start.after("name", "a");
  for (let at = 0; at < 10_000; at++) KeyPlace.start.after("name", `unique-${at}`);
  expect(KeyPlace.start.after("name", "a")).not.toBe(first);
});
