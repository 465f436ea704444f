import { afterAll, beforeAll, expect, test } from "bun:test";
import { mergePatch, TestServer } from "./server.ts";

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
