import { afterAll, beforeAll, expect, test } from "bun:test";
import { mergePatch, strategicPatch, TestServer } from "./server.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

test.each(["__proto__.polluted", "constructor.prototype.polluted", "toString.polluted"])(
  "a scale whose replicas are at .spec.%s changes the object and nothing else",
  async (path) => {
    const plural = `p${path.split(".")[0]?.replaceAll("_", "")}s`.toLowerCase();
    const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1);
    await server.create(definitions, {
      metadata: { name: `${plural}.hostile.example.com` },
      spec: {
        group: "hostile.example.com",
        scope: "Namespaced",
        names: { plural, kind },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            subresources: { scale: { specReplicasPath: `.spec.${path}`, statusReplicasPath: ".status.replicas" } },
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    });
    const objects = `/apis/hostile.example.com/v1/namespaces/${await server.namespace()}/${plural}`;
    await server.create(objects, { apiVersion: "hostile.example.com/v1", kind, metadata: { name: "a" } });
    await server.patch(`${objects}/a/scale`, mergePatch, { spec: { replicas: 3 } });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect((await server.get("/readyz")).code).toBe(200);
    expect((await server.get(`${objects}/a`)).code).toBe(200);
  },
);

test("a Scale of a custom object has the guards and patch types of custom objects", async () => {
  await server.create(definitions, {
    metadata: { name: "grids.scale.example.com" },
    spec: {
      group: "scale.example.com",
      scope: "Namespaced",
      names: { plural: "grids", kind: "Grid" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  });
  const objects = `/apis/scale.example.com/v1/namespaces/${await server.namespace()}/grids`;
  const grid = { apiVersion: "scale.example.com/v1", kind: "Grid", metadata: { name: "a" }, spec: { replicas: 1 } };
  await server.create(objects, grid);
  const other = { metadata: { name: "a", uid: "x" }, spec: { replicas: 2 } };
  expect((await server.put(`${objects}/a/scale`, other)).code).toBe(409);
  expect((await server.patch(`${objects}/a/scale`, strategicPatch, { spec: { replicas: 2 } })).code).toBe(415);
  expect((await server.get(`${objects}/a`)).json.spec.replicas).toBe(1);
  const table = await server.get(`${objects}/a/scale`, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  expect(table.json.columnDefinitions.map(({ format, type }: Record<string, string>) => [type, format])).toEqual([
    ["string", "name"],
    ["integer", ""],
    ["integer", ""],
    ["date", ""],
  ]);

  const refusal = async (patch: object) => (await server.patch(`${objects}/a`, mergePatch, patch)).json;
  expect(await refusal({ kind: "X" })).toMatchObject({
    code: 422,
    message: 'X.scale.example.com "a" is invalid: kind: Invalid value: "X": must be Grid',
  });
  expect(await refusal({ apiVersion: "a/b" })).toMatchObject({
    code: 422,
    message: 'Grid.a "a" is invalid: apiVersion: Invalid value: "a/b": must be scale.example.com/v1',
  });
  expect(await refusal({ apiVersion: null })).toMatchObject({ code: 500, reason: "InternalError" });
});
