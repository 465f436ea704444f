import { expect, test } from "bun:test";
import { capManagers, updateManagersMax } from "./cap-managers.ts";
import { FieldSet } from "./field-set.ts";
import { ManagerEntry } from "./manager-entry.ts";

function entry(
  manager: string,
  second: number,
  options: { apiVersion?: string; operation?: "Apply" } = {},
): ManagerEntry {
  const { apiVersion = "v1", operation = "Update" } = options;
  const time = `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
  return new ManagerEntry({ manager, operation, apiVersion, subresource: "" }, time, FieldSet.of([`f:${manager}`]));
}

function names(entries: readonly ManagerEntry[]): string[] {
  return entries.map(({ manager, time }) => `${manager}@${time.slice(17, 19)}`).sort();
}

const ten = Array.from({ length: updateManagersMax }, (_, at) => entry(`m${at}`, at + 10));

test("ten updaters stay, and appliers do not count", () => {
  const entries = [...ten, entry("a", 1, { operation: "Apply" })];
  expect(capManagers(entries)).toBe(entries);
});

test("the two oldest become one", () => {
  const capped = capManagers([...ten, entry("new", 50)]);
  expect(names(capped)).toEqual(names([...ten.slice(2), entry("new", 50), entry("ancient-changes", 11)]));
  expect(capped.find(({ manager }) => manager === "ancient-changes")?.fields.paths()).toEqual([["f:m0"], ["f:m1"]]);
});

test("a merged entry takes in the next oldest", () => {
  const once = capManagers([...ten, entry("new", 50)]);
  const twice = capManagers([...once, entry("newer", 51)]);
  expect(names(twice)).toContain("ancient-changes@12");
  expect(twice).toHaveLength(updateManagersMax);
});

test("versions are not mixed", () => {
  const capped = capManagers([entry("old", 1, { apiVersion: "v2" }), ...ten]);
  expect(names(capped)).toContain("old@01");
  expect(names(capped)).toContain("ancient-changes@11");
});
