import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { compareValues } from "./compare-values.ts";
import { pathText } from "./path-element.ts";
import { sample, sampleType } from "./sample-type.ts";

function difference(old: JsonObject, fresh: JsonObject): { changed: string[]; removed: string[] } {
  const { changed, removed } = compareValues(sample(old), sample(fresh), sampleType);
  return {
    changed: changed.paths().map((path) => pathText(path.slice(1))),
    removed: removed.paths().map((path) => pathText(path.slice(1))),
  };
}

const cases: readonly [string, JsonObject, JsonObject, string[], string[]][] = [
  ["nothing", { name: "a", tags: ["x"] }, { name: "a", tags: ["x"] }, [], []],
  ["a scalar", { replicas: 1 }, { replicas: 2 }, [".replicas"], []],
  ["null and absence", { name: "a", paused: null }, { name: null }, [".name"], [".paused"]],
  ["an atomic list", { plain: ["a"] }, { plain: ["b"] }, [".plain"], []],
  ["an atomic map", { whole: { a: "1" } }, { whole: { a: "2" } }, [".whole"], []],
  ["a set", { tags: ["a", "b"] }, { tags: ["b", "c"] }, ['.tags[="c"]'], ['.tags[="a"]']],
  ["a whole set", {}, { tags: ["a"] }, [".tags", '.tags[="a"]'], []],
  ["an emptied map", { labels: { a: "1" } }, { labels: {} }, [], [".labels.a"]],
  ["an empty map and null", { labels: {} }, { labels: null }, [".labels"], []],
  [
    "items by their keys",
    { ports: [{ port: 80, note: "a" }, { port: 81 }] },
    {
      ports: [
        { port: 80, protocol: "UDP" },
        { port: 80, protocol: "TCP", note: "b" },
      ],
    },
    [
      '.ports[port=80,protocol="UDP"]',
      '.ports[port=80,protocol="TCP"].note',
      '.ports[port=80,protocol="TCP"].protocol',
      '.ports[port=80,protocol="UDP"].port',
      '.ports[port=80,protocol="UDP"].protocol',
    ],
    ['.ports[port=81,protocol="TCP"]', '.ports[port=81,protocol="TCP"].port'],
  ],
  ["new duplicates", { tags: ["a"] }, { tags: ["a", "a"] }, ['.tags[="a"]'], ['.tags[="a"]']],
  ["duplicates that go", { tags: ["a", "a"] }, { tags: ["a"] }, ['.tags[="a"]'], ['.tags[="a"]']],
  ["duplicates that stay", { tags: ["a", "a", "b"] }, { tags: ["a", "a"] }, [], ['.tags[="b"]']],
  [
    "a free object",
    { free: { a: { b: 1, l: [1] } } },
    { free: { a: { b: 2, l: [2] } } },
    [".free.a.b", ".free.a.l"],
    [],
  ],
  ["a value that becomes an object", { port: 1 }, { port: { a: 1 } }, [".port", ".port.a"], []],
];

describe("finds", () => {
  for (const [name, old, fresh, changed, removed] of cases) {
    test(name, () => expect(difference(old, fresh)).toEqual({ changed, removed }));
  }
});
