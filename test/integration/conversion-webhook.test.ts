import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mergePatch, TestServer } from "./server.ts";
import { TlsService } from "./tls-service.ts";

// A custom kind in two versions, converted by a real webhook: `spec.host` of v1 is `spec.server` in v2.
let server: TestServer;
let hook: TlsService;
/** Numbers of objects in the reviews. */
let reviews: number[] = [];
let isBroken = false;

const group = "conversion.example.com";
const collection = (version: string) => `/apis/${group}/${version}/namespaces/default/widgets`;

beforeAll(async () => {
  server = await TestServer.start();
  hook = new TlsService(async (request) => {
    const { request: review, apiVersion } = (await request.json()) as any;
    reviews.push(review.objects.length);
    const result = isBroken ? { status: "Failed", message: "not today" } : { status: "Success" };
    const convertedObjects = review.objects.map((object: any) => converted(object, review.desiredAPIVersion));
    const response = { uid: review.uid, result, convertedObjects };
    return Response.json({ apiVersion, kind: "ConversionReview", response });
  });
  const field = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
  const version = (name: string, spec: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    selectableFields: [{ jsonPath: `.spec.${spec}` }],
    schema: { openAPIV3Schema: { type: "object", properties: { spec: field(spec) } } },
  });
  await server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [version("v1", "host", true), version("v2", "server", false)],
      conversion: {
        strategy: "Webhook",
        webhook: {
          clientConfig: { url: `${hook.url}/convert`, caBundle: btoa(hook.ca) },
          conversionReviewVersions: ["v1"],
        },
      },
    },
  });
  while ((await server.get(collection("v1"))).code !== 200) await Bun.sleep(5);
});

beforeEach(async () => {
  isBroken = false;
  await server.delete(collection("v1"));
  reviews = [];
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

function converted({ spec, ...rest }: any, apiVersion: string): object {
  const { host, server: name = host } = spec;
  return { ...rest, apiVersion, spec: apiVersion.endsWith("/v2") ? { server: name } : { host: name } };
}

const widget = (version: string, name: string, spec: object) => ({
  apiVersion: `${group}/${version}`,
  kind: "Widget",
  metadata: { name },
  spec,
});

test("objects are written and read in the version of the request", async () => {
  const created = await server.create(collection("v2"), widget("v2", "a", { server: "x" }));
  expect(created).toMatchObject({ apiVersion: `${group}/v2`, spec: { server: "x" } });
  expect((await server.get(`${collection("v1")}/a`)).json.spec).toEqual({ host: "x" });
  const { json } = await server.patch(`${collection("v2")}/a`, mergePatch, { spec: { server: "y" } });
  expect(json).toMatchObject({ apiVersion: `${group}/v2`, spec: { server: "y" } });
  expect((await server.get(`${collection("v1")}/a`)).json.spec).toEqual({ host: "y" });
});

test("one review converts a list, and reads in the stored version ask for none", async () => {
  for (const name of ["a", "b", "c"]) await server.create(collection("v1"), widget("v1", name, { host: name }));
  const { items } = (await server.get(collection("v1"))).json;
  expect([items.length, reviews]).toEqual([3, []]);
  const listed = (await server.get(collection("v2"))).json.items;
  expect(listed.map(({ spec }: any) => spec)).toEqual([{ server: "a" }, { server: "b" }, { server: "c" }]);
  expect(reviews).toEqual([3]);
});

test("watches get objects in their own version, those before the watch and those after", async () => {
  await server.create(collection("v1"), widget("v1", "a", { host: "x" }));
  await using watch = await server.watch(collection("v2"));
  await using stored = await server.watch(collection("v1"));
  const shape = (type: string, version: string, spec: object) => ({
    type,
    object: { apiVersion: `${group}/${version}`, kind: "Widget", spec },
  });
  expect(await watch.next()).toMatchObject(shape("ADDED", "v2", { server: "x" }));
  expect(await stored.next()).toMatchObject(shape("ADDED", "v1", { host: "x" }));
  await server.patch(`${collection("v2")}/a`, mergePatch, { spec: { server: "y" } });
  expect(await watch.next()).toMatchObject(shape("MODIFIED", "v2", { server: "y" }));
  expect(await stored.next()).toMatchObject(shape("MODIFIED", "v1", { host: "y" }));
  await server.delete(`${collection("v1")}/a`);
  expect(await watch.next()).toMatchObject(shape("DELETED", "v2", { server: "y" }));
  expect(await stored.next()).toMatchObject(shape("DELETED", "v1", { host: "y" }));
});

test("pages and applies work in the version of the request", async () => {
  for (const name of ["a", "b", "c"]) await server.create(collection("v1"), widget("v1", name, { host: name }));
  const first = (await server.get(`${collection("v2")}?limit=2`)).json;
  const second = (await server.get(`${collection("v2")}?limit=2&continue=${first.metadata.continue}`)).json;
  const specs = [...first.items, ...second.items].map(({ spec }: any) => spec);
  expect(specs).toEqual([{ server: "a" }, { server: "b" }, { server: "c" }]);
  const path = `${collection("v2")}/a?fieldManager=m&force=true`;
  const applied = await server.patch(path, "application/apply-patch+yaml", widget("v2", "a", { server: "z" }));
  expect(applied.json).toMatchObject({ spec: { server: "z" } });
  expect(applied.json.metadata.managedFields).toContainEqual(
    expect.objectContaining({ manager: "m", apiVersion: `${group}/v2`, fieldsV1: { "f:spec": { "f:server": {} } } }),
  );
  expect((await server.get(`${collection("v1")}/a`)).json.spec).toEqual({ host: "z" });
});

test("lists select by fields of the version of the request", async () => {
  for (const [name, host] of Object.entries({ a: "x", b: "y", c: "x", d: "x" })) {
    await server.create(collection("v1"), widget("v1", name, { host }));
  }
  const names = ({ items }: any) => items.map(({ metadata }: any) => metadata.name);
  expect(names((await server.get(`${collection("v1")}?fieldSelector=spec.host=x`)).json)).toEqual(["a", "c", "d"]);
  const path = `${collection("v2")}?fieldSelector=spec.server=x`;
  expect(names((await server.get(path)).json)).toEqual(["a", "c", "d"]);
  const first = (await server.get(`${path}&limit=2`)).json;
  const second = (await server.get(`${path}&limit=2&continue=${first.metadata.continue}`)).json;
  expect([first, second].map(names)).toEqual([["a", "c"], ["d"]]);
  expect(second.metadata.continue).toBe("");
});

test("watches select by fields of the version of the request", async () => {
  for (const [name, host] of Object.entries({ a: "x", b: "y" })) {
    await server.create(collection("v1"), widget("v1", name, { host }));
  }
  await using watch = await server.watch(`${collection("v2")}?fieldSelector=spec.server=x`);
  const next = async () => {
    const { type, object } = (await watch.next()) as any;
    return `${type} ${object.metadata.name} ${object.spec.server}`;
  };
  expect(await next()).toBe("ADDED a x");
  const set = (name: string, spec: object) => server.patch(`${collection("v1")}/${name}`, mergePatch, { spec });
  await set("b", { host: "z" });
  await set("b", { host: "x" });
  expect(await next()).toBe("ADDED b x");
  await server.patch(`${collection("v1")}/b`, mergePatch, { metadata: { labels: { a: "b" } } });
  expect(await next()).toBe("MODIFIED b x");
  const left = (await set("a", { host: "y" })).json.metadata.resourceVersion;
  const { type, object } = (await watch.next()) as any;
  expect([type, object.spec, object.metadata.resourceVersion]).toEqual(["DELETED", { server: "x" }, left]);
  await server.delete(`${collection("v1")}/a`);
  await server.delete(`${collection("v1")}/b`);
  expect(await next()).toBe("DELETED b x");
});

test("a collection is deleted by fields of the version of the request", async () => {
  for (const [name, host] of Object.entries({ a: "x", b: "y", c: "x" })) {
    await server.create(collection("v1"), widget("v1", name, { host }));
  }
  const names = ({ items }: any) => items.map(({ metadata }: any) => metadata.name);
  const { json } = await server.delete(`${collection("v2")}?fieldSelector=spec.server=x`);
  expect(names(json)).toEqual(["a", "c"]);
  expect(names((await server.get(collection("v1"))).json)).toEqual(["b"]);
});

test("a failed webhook is reported in upstream's words, and affects no other version", async () => {
  await server.create(collection("v1"), widget("v1", "a", { host: "x" }));
  isBroken = true;
  const text = `conversion webhook for ${group}/v1, Kind=Widget failed: not today`;
  for (const path of [collection("v2"), `${collection("v2")}/a`]) {
    const { code, json } = await server.get(path);
    expect([code, json.message]).toEqual([500, text]);
  }
  expect((await server.get(`${collection("v1")}/a`)).code).toBe(200);
  expect((await server.post(collection("v2"), widget("v2", "b", { server: "y" }))).code).toBe(500);
});
