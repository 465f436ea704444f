import { afterAll, beforeAll, expect, test } from "bun:test";
import { protobuf, TestServer } from "./server.ts";

const path = "/api/v1/componentstatuses";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

test("the parts of the control plane are listed and read", async () => {
  const { json } = await server.get(path);
  expect(json).toMatchObject({ kind: "ComponentStatusList", apiVersion: "v1" });
  const names = json.items.map(({ metadata }: any) => metadata.name);
  expect(names).toEqual(["controller-manager", "etcd-0", "scheduler"]);
  const one = await server.get(`${path}/etcd-0`);
  expect(one.json).toEqual({
    kind: "ComponentStatus",
    apiVersion: "v1",
    metadata: { name: "etcd-0" },
    conditions: [{ type: "Healthy", status: "True", message: "ok" }],
  });
  expect(one.headers.get("warning")).toBe('299 - "v1 ComponentStatus is deprecated in v1.19+"');
  expect((await server.get(`${path}/nothing`)).json.message).toBe('componentstatus "nothing" not found');
});

test("they are selected by name, and written in every form", async () => {
  const selected = await server.get(`${path}?fieldSelector=metadata.name%3Detcd-0`);
  expect(selected.json.items).toHaveLength(1);
  expect((await server.get(`${path}?labelSelector=a%3Db`)).json.items).toEqual([]);
  const rows = await server.get(path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  expect(rows.json.rows.map(({ cells }: any) => cells.slice(0, 2))).toContainEqual(["etcd-0", "Healthy"]);
  expect((await server.get(path, { accept: protobuf })).code).toBe(200);
});

test("they are discovered, and cannot be written", async () => {
  const { json } = await server.get("/api/v1");
  expect(json.resources.find(({ name }: any) => name === "componentstatuses").verbs).toEqual(["get", "list"]);
  expect((await server.post(path, { metadata: { name: "x" } })).code).toBe(405);
  expect((await server.delete(`${path}/etcd-0`)).code).toBe(405);
  expect((await server.get(`${path}?watch=1`)).code).toBe(405);
});
