import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../api/json.ts";
import { atOnce } from "../process/sliced.ts";
import { decodeEntries, encodeEntries, entriesToUpdate, storedEntries } from "./managed-fields.ts";
import { sample } from "./sample-type.ts";

const stored = {
  manager: "a",
  operation: "Update",
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:data": {} },
};
const live = sample({}, { managedFields: [stored] });

test("stored entries are written as they were", () => {
  const [entry] = encodeEntries(storedEntries(live)) ?? [];
  expect(entry).toBe(stored as never);
  expect(storedEntries(undefined)).toEqual([]);
});

test("entries are ordered by operation, time, manager, version and subresource", () => {
  const make = (operation: string, time: string | undefined, manager: string) => ({
    ...(time === undefined ? {} : { time }),
    manager,
    operation,
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: {},
  });
  const entries = decodeEntries([
    make("Update", "2026-01-01T00:00:00Z", "b"),
    make("Update", undefined, "z"),
    make("Update", "2026-01-01T00:00:00Z", "a"),
    make("Apply", "2027-01-01T00:00:00Z", "y"),
  ]);
  expect(encodeEntries(entries)?.map(({ manager }) => manager)).toEqual(["y", "z", "a", "b"]);
});

describe("an update starts from", () => {
  const sent: readonly [string, JsonValue | undefined, string[]][] = [
    ["the stored entries when it sends none", undefined, ["a"]],
    ["the stored ones when it sends them back", [stored], ["a"]],
    ["its own when they can be read", [{ ...stored, manager: "b" }], ["b"]],
    ["the stored ones when its own cannot be read", [{ ...stored, operation: "x" }], ["a"]],
    ["nothing when it sends an empty list", [], []],
    ["nothing when it sends one empty entry", [{}], []],
    [
      "the last of two entries for one owner",
      [
        { ...stored, manager: "b" },
        { ...stored, manager: "b" },
      ],
      ["b"],
    ],
  ];
  for (const [name, list, managers] of sent) {
    test(name, () => expect(atOnce(entriesToUpdate(live, list)).map(({ manager }) => manager)).toEqual(managers));
  }
});

describe("entries that are refused", () => {
  const refused: readonly [object, string][] = [
    [{ operation: "Patch" }, "operation must be `Apply` or `Update`"],
    [{ apiVersion: "" }, "apiVersion must not be empty"],
    [{ fieldsType: "" }, "missing fieldsType in managed fields entry 0"],
    [{ fieldsType: "V2" }, 'invalid fieldsType "V2" in managed fields entry 0'],
    [{ fieldsV1: { x: {} } }, "key must be 2 characters long:"],
  ];
  for (const [change, message] of refused) {
    test(message, () => expect(() => decodeEntries([{ ...stored, ...change }])).toThrow(message));
  }
});
