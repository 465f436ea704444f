import { expect, test } from "bun:test";
import { readAggregatedDiscovery, readResourceList } from "./read-discovery.ts";

const bytesOf = (document: unknown) => Buffer.from(JSON.stringify(document));

const things = {
  resource: "things",
  responseKind: { group: "example.com", version: "v1", kind: "Thing" },
  scope: "Namespaced",
  singularResource: "thing",
  verbs: ["get", "list"],
  shortNames: ["th"],
  subresources: [{ subresource: "status", verbs: ["get"] }],
};

function listOf(...resources: unknown[]) {
  const versions = [{ version: "v1", freshness: "Current", resources }];
  return bytesOf({ kind: "APIGroupDiscoveryList", items: [{ metadata: { name: "example.com" }, versions }] });
}

test("readAggregatedDiscovery() reads resources by apiVersion, and names no kind where the server names none", () => {
  const noKind = { group: "", version: "", kind: "" };
  expect(readAggregatedDiscovery(listOf({ ...things, invented: { deep: true } }))).toEqual(
    new Map([
      [
        "example.com/v1",
        [
          {
            ...things,
            scope: "Namespaced",
            categories: [],
            subresources: [{ subresource: "status", responseKind: noKind, acceptedTypes: [], verbs: ["get"] }],
          },
        ],
      ],
    ]),
  );
});

test.each([
  ["no JSON", Buffer.from("<html>")],
  ["no object", bytesOf([])],
  ["items that are no list", bytesOf({ items: {} })],
  ["an item that is not an object", bytesOf({ items: [7] })],
  ["a version without a name", bytesOf({ items: [{ metadata: { name: "g" }, versions: [{}] }] })],
  ["a resource without a name", listOf({ verbs: ["get"] })],
  ["a name that is not a text", listOf({ resource: { a: 1 } })],
  ["a name that is too long", listOf({ resource: "a".repeat(254) })],
  ["too many verbs", listOf({ resource: "a", verbs: Array(101).fill("get") })],
  ["too many resources", listOf(...Array(5_001).fill({ resource: "a" }))],
  ["subresources that are too many", listOf({ resource: "a", subresources: Array(5_000).fill({ subresource: "b" }) })],
  [
    "too many versions",
    bytesOf({ items: [{ versions: Array.from({ length: 501 }, (_, at) => ({ version: `v${at}` })) }] }),
  ],
  ["too many values", bytesOf({ items: [], rest: Array(300_000).fill(0) })],
  ["too deep a document", Buffer.from(`${"[".repeat(2_000)}${"]".repeat(2_000)}`)],
])("readAggregatedDiscovery() refuses %s", (_, bytes) => {
  expect(() => readAggregatedDiscovery(bytes)).toThrow();
});

test("readAggregatedDiscovery() takes a key such as __proto__ for any other unknown key", () => {
  const bytes = Buffer.from('{"items":[{"metadata":{"name":"g"},"__proto__":{"versions":[{"version":"v1"}]}}]}');
  expect(readAggregatedDiscovery(bytes).size).toBe(0);
  expect(({} as Record<string, unknown>)["versions"]).toBeUndefined();
});

test("readResourceList() puts subresources below their resources, and makes up a resource that is not listed", () => {
  const list = readResourceList(
    bytesOf({
      resources: [
        { name: "things/status", namespaced: true, kind: "Thing", verbs: ["get"] },
        { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get", "list"] },
        { name: "orphan/sub", namespaced: true, kind: "Sub", group: "g", version: "v9", verbs: ["get"] },
      ],
    }),
  );
  expect(
    list.map(({ resource, singularResource, scope, subresources }) => [
      resource,
      singularResource,
      scope,
      subresources.length,
    ]),
  ).toEqual([
    ["things", "thing", "Namespaced", 1],
    ["orphan", "", "Namespaced", 1],
  ]);
  expect(list[1]?.subresources[0]?.responseKind).toEqual({ group: "g", version: "v9", kind: "Sub" });
});

test("readResourceList() refuses a subresource in another scope than its resource", () => {
  const resources = [
    { name: "things", namespaced: true },
    { name: "things/status", namespaced: false },
  ];
  expect(() => readResourceList(bytesOf({ resources }))).toThrow("differ in scope");
});
