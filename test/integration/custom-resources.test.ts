import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/api/json.ts";
import { until } from "../until.ts";
import { jsonPatch, mergePatch, protobuf, strategicPatch, TestServer } from "./server.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const widgets = "/apis/stable.example.com/v1/namespaces/default/widgets";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

function specSchema(properties: JsonObject): JsonObject {
  return {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties },
        status: {
          type: "object",
          properties: { replicas: { type: "integer" }, phase: { type: "string" }, selector: { type: "string" } },
        },
      },
    },
  };
}

function definition(plural: string, kind: string, changes: JsonObject = {}, versions?: JsonObject[]): JsonObject {
  const group = "stable.example.com";
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, shortNames: [plural.slice(0, 2)], categories: ["all"] },
      versions: versions ?? [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: ".spec.replicas",
              statusReplicasPath: ".status.replicas",
              labelSelectorPath: ".status.selector",
            },
          },
          additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.replicas" }],
          selectableFields: [{ jsonPath: ".spec.color" }],
          schema: specSchema({
            replicas: { type: "integer", minimum: 0, maximum: 10 },
            color: { type: "string", default: "blue" },
            tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
          }),
        },
      ],
      ...changes,
    },
  };
}

/** Creates a definition and waits until it is established. */
async function install(object: JsonObject): Promise<string> {
  const created = await server.request("POST", definitions, { body: object });
  expect(created.code, created.text).toBe(201);
  const path = `${definitions}/${created.json.metadata.name}`;
  await until(async () => isTrue((await server.get(path)).json, "Established"));
  return path;
}

function isTrue(object: { status?: { conditions?: { type: string; status: string }[] } }, type: string): boolean {
  return (object.status?.conditions ?? []).some((one) => one.type === type && one.status === "True");
}

function widget(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: "stable.example.com/v1", kind: "Widget", metadata: { name }, spec };
}

test("fields may have the names of inherited properties, and get their defaults", async () => {
  const schema = specSchema({ constructor: { type: "string", default: "none" } });
  await install(definition("builders", "Builder", {}, [{ name: "v1", served: true, storage: true, schema }]));
  const body = { apiVersion: "stable.example.com/v1", kind: "Builder", metadata: { name: "a" }, spec: {} };
  for (const validation of ["Strict", "Ignore"]) {
    const path = `${widgets.replace("widgets", "builders")}?dryRun=All&fieldValidation=${validation}`;
    const created = await server.request("POST", path, { body });
    expect(created.json.spec, created.text).toEqual({ constructor: "none" });
  }
});

describe("the objects of a definition", () => {
  beforeAll(async () => {
    await install(definition("widgets", "Widget"));
  });

  test("are created with defaults and read back", async () => {
    const created = await server.request("POST", widgets, { body: widget("a", { replicas: 2, unknown: 1 }) });
    expect(created.code, created.text).toBe(201);
    expect(created.headers.get("warning")).toBe('299 - "unknown field \\"spec.unknown\\""');
    expect(created.json).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 2, color: "blue" } });
    const read = await server.get(`${widgets}/a`);
    expect(read.json).toEqual(created.json);
  });

  test("are refused with the reference's words", async () => {
    const refused = await server.request("POST", widgets, { body: widget("b", { replicas: 11 }) });
    expect(refused.code).toBe(422);
    expect(refused.json.message).toBe(
      'Widget.stable.example.com "b" is invalid: spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10',
    );
  });

  test("lose nulls of fields that cannot be null, except when they are applied", async () => {
    const body = widget("n", { replicas: null, color: null });
    const created = await server.request("POST", `${widgets}?dryRun=All`, { body });
    expect(created.json.spec).toEqual({ color: "blue" });
    const path = `${widgets}/n?dryRun=All&fieldManager=m`;
    const applied = await server.patch(path, "application/apply-patch+yaml", body);
    expect(applied.code).toBe(422);
    expect(applied.json.details.causes[0]).toMatchObject({ field: "spec.replicas", reason: "FieldValueTypeInvalid" });
  });

  test("are refused with the number as a double writes it", async () => {
    const refused = await server.request("POST", widgets, { body: widget("b", { replicas: 1e20 }) });
    expect(refused.json.message).toContain("spec.replicas: Invalid value: 1e+20: ");
  });

  test("count generations for the spec and not for the status", async () => {
    await server.request("POST", widgets, { body: widget("g") });
    const changed = await server.patch(`${widgets}/g`, mergePatch, { spec: { replicas: 3 }, status: { phase: "x" } });
    expect(changed.json).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 3 } });
    expect(changed.json.status).toBeUndefined();
    const status = await server.patch(`${widgets}/g/status`, mergePatch, {
      metadata: { labels: { a: "b" } },
      spec: { replicas: 9 },
      status: { phase: "Ready", replicas: 3 },
    });
    expect(status.json).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 3 },
      status: { phase: "Ready", replicas: 3 },
    });
    expect(status.json.metadata.labels).toBeUndefined();
  });

  test("are patched by every type but the strategic one", async () => {
    await server.request("POST", widgets, { body: widget("p") });
    const json = await server.patch(`${widgets}/p`, jsonPatch, [{ op: "add", path: "/spec/replicas", value: 4 }]);
    expect(json.json.spec.replicas).toBe(4);
    const strategic = await server.patch(`${widgets}/p`, strategicPatch, { spec: { replicas: 5 } });
    expect(strategic.code).toBe(415);
    const applied = await server.patch(
      `${widgets}/p?fieldManager=m&force=true`,
      "application/apply-patch+yaml",
      widget("p", { replicas: 6, tags: ["x"] }),
    );
    expect(applied.code, applied.text).toBe(200);
    expect(applied.json.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: "m",
        operation: "Apply",
        apiVersion: "stable.example.com/v1",
        fieldsV1: { "f:spec": { "f:replicas": {}, "f:tags": { 'v:"x"': {} } } },
      }),
    );
  });

  test("are scaled", async () => {
    await server.request("POST", widgets, { body: widget("s", { replicas: 1 }) });
    const scale = await server.get(`${widgets}/s/scale`);
    expect(scale.json).toMatchObject({ kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 1 } });
    const put = await server.request("PUT", `${widgets}/s/scale`, {
      body: { ...scale.json, spec: { replicas: 7 } },
    });
    expect(put.code, put.text).toBe(200);
    expect((await server.get(`${widgets}/s`)).json).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 7 },
    });
    await server.request("POST", widgets, { body: widget("none") });
    const missing = await server.get(`${widgets}/none/scale`);
    expect(missing.code).toBe(500);
    expect(missing.json.message).toBe(
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    );
  });

  test("are listed as a table, by field, and without protobuf", async () => {
    await server.request("POST", widgets, { body: widget("red", { color: "red", replicas: 5 }) });
    const listed = await server.get(`${widgets}?fieldSelector=spec.color%3Dred`);
    expect(listed.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(["red"]);
    const unknown = await server.get(`${widgets}?fieldSelector=spec.size%3D1`);
    expect(unknown.code).toBe(400);
    const table = await server.get(`${widgets}/red`, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    expect(table.json.columnDefinitions.map((column: { name: string }) => column.name)).toEqual(["Name", "Size"]);
    expect(table.json.rows[0].cells).toEqual(["red", 5]);
    expect((await server.get(`${widgets}/red`, { accept: protobuf })).code).toBe(406);
  });

  test("are watched", async () => {
    await using watch = await server.watch(`${widgets}?watch=1&fieldSelector=metadata.name%3Dw`);
    await server.request("POST", widgets, { body: widget("w") });
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { kind: "Widget", spec: { color: "blue" } } });
    await server.delete(`${widgets}/w`);
    expect(await watch.next()).toMatchObject({ type: "DELETED" });
  });
});

describe("two versions", () => {
  const gadgets = (version: string) => `/apis/stable.example.com/${version}/namespaces/default/gadgets`;
  const gadget = (version: string, name: string, spec: JsonObject) => ({
    apiVersion: `stable.example.com/${version}`,
    kind: "Gadget",
    metadata: { name },
    spec,
  });
  const version = (name: string, storage: boolean, properties: JsonObject) => ({
    name,
    served: true,
    storage,
    schema: specSchema(properties),
  });
  const size = { type: "integer" };
  let path: string;

  beforeAll(async () => {
    path = await install(
      definition("gadgets", "Gadget", {}, [
        version("v1", true, { size, color: { type: "string", default: "blue" } }),
        version("v1beta1", false, { size, shape: { type: "string" } }),
      ]),
    );
  });

  test("show an object by their own schema", async () => {
    const created = await server.post(gadgets("v1beta1"), gadget("v1beta1", "a", { size: 1, shape: "round" }));
    expect(created.code, created.text).toBe(201);
    expect(created.json).toMatchObject({ apiVersion: "stable.example.com/v1beta1", spec: { size: 1 } });
    const stored = await server.get(`${gadgets("v1")}/a`);
    expect(stored.json).toMatchObject({ apiVersion: "stable.example.com/v1", spec: { size: 1, color: "blue" } });
    expect(stored.json.spec.shape).toBeUndefined();
    const listed = await server.get(gadgets("v1beta1"));
    expect(listed.json.items[0]).toMatchObject({ apiVersion: "stable.example.com/v1beta1", kind: "Gadget" });
  });

  test("change places in the store, and an update without changes migrates an object", async () => {
    const { json } = await server.get(path);
    const [first, second] = json.spec.versions;
    json.spec.versions = [
      { ...first, storage: false },
      { ...second, storage: true },
    ];
    expect((await server.put(path, json)).code).toBe(200);
    expect((await server.get(path)).json.status.storedVersions).toEqual(["v1", "v1beta1"]);
    const before = await server.get(`${gadgets("v1beta1")}/a`);
    expect(before.json.spec).toEqual({ size: 1 });
    const migrated = await server.put(`${gadgets("v1beta1")}/a`, before.json);
    expect(migrated.code, migrated.text).toBe(200);
    expect(migrated.json.metadata.resourceVersion).not.toBe(before.json.metadata.resourceVersion);
    const again = await server.put(`${gadgets("v1beta1")}/a`, migrated.json);
    expect(again.json.metadata.resourceVersion).toBe(migrated.json.metadata.resourceVersion);
  });
});

describe("a definition that changes", () => {
  const path = "/apis/stable.example.com/v1/namespaces/default/movers";

  test("gives old objects new defaults, prunes removed fields, and ends watches", async () => {
    const at = await install(definition("movers", "Mover"));
    await server.create(path, { ...widget("a", { replicas: 1 }), kind: "Mover" });
    await using watch = await server.watch(`${path}?fieldSelector=metadata.name%3Dnone`);
    const { json } = await server.get(at);
    json.spec.versions[0].schema = specSchema({
      color: { type: "string", default: "red" },
      mood: { type: "string", default: "good" },
    });
    expect((await server.put(at, json)).code).toBe(200);
    expect(await watch.next()).toBeUndefined();
    expect((await server.get(`${path}/a`)).json.spec).toEqual({ color: "blue", mood: "good" });
  });

  test("keeps watches when only its metadata changes", async () => {
    await using watch = await server.watch(`${path}?fieldSelector=metadata.name%3Db`);
    await server.patch(`${definitions}/movers.stable.example.com`, mergePatch, { metadata: { labels: { a: "b" } } });
    await server.create(path, { ...widget("b"), kind: "Mover" });
    expect(await watch.next()).toMatchObject({ type: "ADDED" });
  });
});

describe("a definition that is deleted", () => {
  const path = "/apis/stable.example.com/v1/namespaces/default/goners";

  test("takes no new objects while a finalizer holds an old one, and is gone with the last", async () => {
    const at = await install(definition("goners", "Goner"));
    const held = { ...widget("held"), kind: "Goner", metadata: { name: "held", finalizers: ["example.com/hold"] } };
    await server.create(path, held);
    await server.create(path, { ...widget("free"), kind: "Goner" });
    const deleted = await server.delete(at);
    expect(deleted.code).toBe(200);
    expect(deleted.json.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    expect(isTrue(deleted.json, "Terminating")).toBe(true);
    const refused = await server.post(path, { ...widget("late"), kind: "Goner" });
    expect(refused.code).toBe(403);
    expect(refused.json.message).toBe(
      'goners.stable.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    );
    await until(async () => (await server.get(`${path}/free`)).code === 404);
    const resources = await server.get("/apis/stable.example.com/v1");
    const goners = resources.json.resources.find(({ name }: { name: string }) => name === "goners");
    expect(goners.verbs).toEqual(["delete", "deletecollection", "get", "list", "watch"]);
    await server.patch(`${path}/held`, mergePatch, { metadata: { finalizers: null } });
    await until(async () => (await server.get(at)).code === 404);
    expect((await server.get(path)).code).toBe(404);
  });
});

test("names that another definition has are refused until they are free", async () => {
  const first = await install(definition("apples", "Apple"));
  const second = definition("pears", "Apple");
  await server.create(definitions, second);
  const at = `${definitions}/pears.stable.example.com`;
  await until(async () => ((await server.get(at)).json.status?.conditions ?? []).length > 0);
  const { status } = (await server.get(at)).json;
  expect(status.conditions).toMatchObject([
    { type: "NamesAccepted", status: "False", reason: "ListKindConflict", message: '"AppleList" is already in use' },
    { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
  ]);
  await server.delete(first);
  await until(async () => isTrue((await server.get(at)).json, "Established"));
  expect((await server.get("/apis/stable.example.com/v1/pears")).code).toBe(200);
});

test("a namespace that is deleted takes its custom resources with it", async () => {
  const namespace = await server.namespace();
  const path = `/apis/stable.example.com/v1/namespaces/${namespace}/widgets`;
  await server.create(path, widget("a"));
  await server.delete(`/api/v1/namespaces/${namespace}`);
  await until(async () => (await server.get(`/api/v1/namespaces/${namespace}`)).code === 404);
  expect((await server.get(`${path}/a`)).code).toBe(404);
});

test("OpenAPI has the schema of a kind, and no strategic patches for it", async () => {
  const document = (await server.get("/openapi/v3/apis/stable.example.com/v1")).json;
  const definitionOf = document.components.schemas["com.example.stable.v1.Widget"];
  expect(definitionOf.properties.spec.properties.color).toEqual({ type: "string", default: "blue" });
  expect(definitionOf["x-kubernetes-group-version-kind"]).toEqual([
    { group: "stable.example.com", version: "v1", kind: "Widget" },
  ]);
  const { patch } = document.paths["/apis/stable.example.com/v1/namespaces/{namespace}/widgets/{name}"];
  expect(Object.keys(patch.requestBody.content)).not.toContain("application/strategic-merge-patch+json");
  const swagger = (await server.get("/openapi/v2")).json;
  expect(swagger.definitions["com.example.stable.v1.Widget"].properties.spec.type).toBe("object");
});

test("a patch that moves a field set changes nobody else's field sets", async () => {
  const moved = { moved: { type: "object", properties: {} } };
  const schema = specSchema({ text: { type: "string" }, ...moved });
  await install(definition("fieldmovers", "FieldMover", {}, [{ name: "v1", served: true, storage: true, schema }]));
  const at = (name: string) => widgets.replace("widgets", `fieldmovers/${name}`);
  const applied = (name: string, manager: string, text: string) => {
    const body = { apiVersion: "stable.example.com/v1", kind: "FieldMover", metadata: { name }, spec: { text } };
    return server.patch(`${at(name)}?fieldManager=${manager}`, "application/apply-patch+yaml", body);
  };
  for (const name of ["one", "two"]) expect((await applied(name, "owner", "1")).code).toBe(201);
  const operation = { op: "move", from: "/metadata/managedFields/0/fieldsV1", path: "/spec/moved" };
  const dryRun = await server.patch(`${at("one")}?dryRun=All`, jsonPatch, [operation]);
  expect(dryRun.code).toBe(200);
  expect((await applied("two", "other", "2")).code).toBe(409);
});
