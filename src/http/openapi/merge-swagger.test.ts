import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import type { DocumentPart } from "./document-part.ts";
import { mergedSwagger } from "./merge-swagger.ts";
import type { SwaggerPart } from "./swagger-part.ts";

const reference = (name: string) => ({ $ref: `#/definitions/${name}` });
const using = (name: string): JsonObject => ({ get: { responses: { 200: { schema: reference(name) } } } });
const kinds = (...names: string[]) => ({
  "x-kubernetes-group-version-kind": names.map((kind) => ({ group: "g", version: "v1", kind })),
});

function part(
  paths: Record<string, JsonObject>,
  definitions: Record<string, JsonObject>,
  parameters: Record<string, JsonObject> = {},
): SwaggerPart {
  const [ofPaths, ofDefinitions, ofParameters] = [paths, definitions, parameters].map(
    (entries) => new Map(Object.entries(entries)),
  ) as [Map<string, JsonObject>, Map<string, JsonObject>, Map<string, JsonObject>];
  return { paths: ofPaths, definitions: ofDefinitions, parameters: ofParameters };
}

/** The document of this server in these tests. */
function* own(): Generator<DocumentPart> {
  yield { path: ["swagger"], value: "2.0" };
  yield { path: ["paths", "/own"], value: using("Meta") };
  yield { path: ["definitions", "Meta"], value: { type: "object", ...kinds("B") } };
  yield { path: ["parameters", "limit"], value: { in: "query", name: "limit", type: "integer" } };
  yield { path: ["security"], value: [] };
}

function merge(...others: SwaggerPart[]) {
  const parts = [...mergedSwagger(own(), others)].filter((one) => one !== undefined);
  const places = parts.map(({ path }) => path.join(" "));
  return { places, at: (...path: string[]) => parts.find((one) => one.path.join() === path.join())?.value };
}

test("sections stay together and in order", () => {
  const { places } = merge(part({ "/a": using("A") }, { A: {} }, { a: {} }), part({ "/b": using("B") }, { B: {} }));
  expect(places).toEqual([
    "swagger",
    "paths /own",
    "paths /a",
    "paths /b",
    "definitions A",
    "definitions B",
    "definitions Meta",
    "parameters limit",
    "security",
  ]);
});

test("a path that is there stays, and brings no definitions", () => {
  const { at, places } = merge(part({ "/own": using("A"), "/b": using("B") }, { A: {}, B: {} }));
  expect(at("paths", "/own")).toEqual(using("Meta"));
  expect(places).not.toContain("definitions A");
  expect(places).toContain("definitions B");
});

test("an equal definition is shared, whatever the order of its keys, and gets the kinds of both", () => {
  const { at, places } = merge(part({ "/a": using("Meta") }, { Meta: { ...kinds("A", "B"), type: "object" } }));
  expect(places.filter((place) => place.includes("Meta"))).toEqual(["definitions Meta"]);
  expect(at("paths", "/a")).toEqual(using("Meta"));
  expect(at("definitions", "Meta")).toEqual({ type: "object", ...kinds("A", "B") });
});

test("another definition of the same name gets a new one, which a third document shares if it is equal", () => {
  const other = (path: string, type: string) => part({ [path]: using("Meta") }, { Meta: { type } });
  const { at, places } = merge(other("/a", "string"), other("/b", "string"), other("/c", "integer"));
  expect(places.filter((place) => place.startsWith("definitions"))).toEqual([
    "definitions Meta",
    "definitions Meta_v2",
    "definitions Meta_v3",
  ]);
  expect([at("paths", "/a"), at("paths", "/b"), at("paths", "/c")]).toEqual([
    using("Meta_v2"),
    using("Meta_v2"),
    using("Meta_v3"),
  ]);
});

test("a new name is not one that the document itself uses", () => {
  const definitions = { Meta: { properties: { other: reference("Meta_v2") } }, Meta_v2: { type: "string" } };
  const { at } = merge(part({ "/a": using("Meta") }, definitions));
  expect(at("definitions", "Meta_v2")).toEqual({ type: "string" });
  expect(at("definitions", "Meta_v3")).toEqual({ properties: { other: reference("Meta_v2") } });
});

test("parameters are shared and renamed in the same way", () => {
  const asking = { get: { parameters: [{ $ref: "#/parameters/limit" }] } };
  const equal = part({ "/a": asking }, {}, { limit: { type: "integer", name: "limit", in: "query" } });
  const other = part({ "/b": asking }, {}, { limit: { in: "query", name: "limit", type: "string" } });
  const { at } = merge(equal, other);
  expect(at("paths", "/a")).toEqual(asking);
  expect(at("paths", "/b")).toEqual({ get: { parameters: [{ $ref: "#/parameters/limit_v2" }] } });
  expect(at("parameters", "limit_v2")).toMatchObject({ type: "string" });
});
