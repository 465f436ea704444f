import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { JsonObject } from "../../src/api/json.ts";
import { objectOf, objectsOf, textOf } from "../../src/api/json-reading.ts";
import { until } from "../until.ts";
import type { PublishedDefinition, PublishedInstance } from "../vectors/crd-real.ts";
import { readCases } from "../vectors/replay.ts";
import { mergePatch, TestServer } from "./server.ts";

// The definitions of well-known projects, installed side by side, and objects of them with recorded answers.
const fixtures = join(import.meta.dir, "../fixtures/crd");
const definitions = [
  ...readCases(join(fixtures, "published-definitions.jsonl.gz")),
] as unknown as PublishedDefinition[];
const instances = [...readCases(join(fixtures, "published-instances.jsonl.gz"))] as unknown as PublishedInstance[];
const resources = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
  for (const { definition } of definitions) await server.create(resources, definition);
  for (const { definition } of definitions) {
    const path = `/apis/${textOf(objectOf(definition["spec"])["group"])}/${versionOf(definition)}`;
    const { plural } = objectOf(objectOf(definition["spec"])["names"]);
    await until(async () => (await server.get(`${path}/${textOf(plural)}`)).code === 200);
  }
});
afterAll(() => server.close());

function versionOf(definition: JsonObject): string {
  const [version = {}] = objectsOf(objectOf(definition["spec"])["versions"]);
  return textOf(version["name"]);
}

function collectionOf(definition: JsonObject): string {
  const { group, names, scope } = objectOf(definition["spec"]);
  const place = scope === "Namespaced" ? "/namespaces/default" : "";
  return `/apis/${textOf(group)}/${versionOf(definition)}${place}/${textOf(objectOf(names)["plural"])}`;
}

describe.each(definitions)("$project: $definition.metadata.name", ({ definition }) => {
  const { name: definitionName } = objectOf(definition["metadata"]);
  const own = instances.filter((instance) => instance.definition === definitionName);
  const collection = collectionOf(definition);

  test("takes and refuses objects as the reference does", async () => {
    for (const [at, { object, result, causes, badRequest }] of own.entries()) {
      const name = `n${at}`;
      const named = { ...object, metadata: { ...objectOf(object["metadata"]), name } };
      const { code, json, text } = await server.post(collection, named);
      if (badRequest !== undefined) {
        expect(code, text).toBe(400);
      } else if (result === undefined) {
        expect({ code, causes: sorted(json.details.causes) }).toEqual({
          code: 422,
          causes: sortedCauses(causes ?? []),
        });
      } else {
        expect(code, text).toBe(201);
        const { metadata: _recorded, ...expected } = result;
        const { metadata: _created, ...created } = json;
        expect(created).toEqual(expected);
      }
    }
  });

  test("lists, patches, watches and deletes them", async () => {
    const { items, kind } = (await server.get(collection)).json;
    expect(kind).toBe(textOf(objectOf(objectOf(definition["spec"])["names"])["listKind"]) || kind);
    expect(items.length).toBe(own.filter(({ result }) => result !== undefined).length);
    const { name } = items[0].metadata;
    await using watch = await server.watch(`${collection}?fieldSelector=metadata.name%3D${name}`);
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name } } });
    const patched = await server.patch(`${collection}/${name}`, mergePatch, { metadata: { labels: { a: "b" } } });
    expect(patched.code, patched.text).toBe(200);
    expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { metadata: { labels: { a: "b" } } } });
    const table = await server.get(collection, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    expect(table.json.rows.length).toBe(items.length);
    expect((await server.delete(collection)).code).toBe(200);
    expect((await server.get(collection)).json.items).toEqual([]);
    expect((await watch.next())?.type).toBe("DELETED");
  });
});

test("the documents of OpenAPI describe all of them", async () => {
  const swagger = (await server.get("/openapi/v2")).json;
  const protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  expect((await server.get("/openapi/v2", { accept: protobuf })).code).toBe(200);
  for (const { definition } of definitions) {
    const { group, names } = objectOf(definition["spec"]);
    const reversed = textOf(group).split(".").reverse().join(".");
    const name = `${reversed}.${versionOf(definition)}.${textOf(objectOf(names)["kind"])}`;
    expect(swagger.definitions).toHaveProperty([name]);
    const { components } = (await server.get(`/openapi/v3/apis/${textOf(group)}/${versionOf(definition)}`)).json;
    expect(components.schemas).toHaveProperty([name]);
  }
});

function sorted(causes: readonly { reason: string; field: string; message: string }[]): string[] {
  return causes.map(({ reason, field, message }) => JSON.stringify([reason, field, message])).sort();
}

/** The reference reports errors of different properties in random order. */
function sortedCauses(causes: readonly (readonly string[])[]): string[] {
  return causes.map((cause) => JSON.stringify(cause)).sort();
}
