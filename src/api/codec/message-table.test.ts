import { expect, test } from "bun:test";
import { messageTypes } from "./message-table.ts";

const type = messageTypes({
  Message: {
    zero: [1, "int64"],
    optional: [2, "int64", "optional"],
    list: [3, "Part", "list"],
    map: [4, "bytes", "map"],
  },
  Part: { text: [1, "string"] },
}).lookupType("Message");

test("fields are encoded by their numbers, and zeros only where they are optional", () => {
  const message = { zero: 0, optional: 0, list: [{ text: "a" }, {}], map: { k: Buffer.from("v") } };
  expect(Buffer.from(type.encode(message).finish()).toString("hex")).toBe("10001a030a01611a0022060a016b120176");
});

test("fields that were not sent have their zero values", () => {
  const { zero, optional, list, map } = type.decode(Buffer.of()) as unknown as Record<string, unknown>;
  expect([zero, optional].map(String)).toEqual(["0", "0"]);
  expect([list, map]).toEqual([[], {}]);
});
