import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "./server.ts";

const levels = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
const schemas = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const annotation = "apf.kubernetes.io/autoupdate-spec";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

const names = async (path: string) => (await server.get(path)).json.items.map(({ metadata }: any) => metadata.name);

test("namespaces, priority classes, priority levels and flow schemas are there when the server is ready", async () => {
  expect(await names("/api/v1/namespaces")).toEqual(["default", "kube-node-lease", "kube-public", "kube-system"]);
  const classes = (await server.get("/apis/scheduling.k8s.io/v1/priorityclasses")).json.items;
  expect(classes.map(({ metadata, value }: any) => [metadata.name, value])).toEqual([
    ["system-cluster-critical", 2_000_000_000],
    ["system-node-critical", 2_000_001_000],
  ]);
  expect(await names(levels)).toEqual(
    "catch-all exempt global-default leader-election node-high system workload-high workload-low".split(" "),
  );
  const { items } = (await server.get(schemas)).json;
  const precedences = items.map(({ spec }: any) => spec.matchingPrecedence);
  expect(precedences.sort((a: number, b: number) => a - b)).toEqual([
    1, 2, 100, 400, 500, 800, 800, 900, 9000, 9900, 10_000,
  ]);
  const known = new Set(await names(levels));
  for (const { spec } of items) expect(known.has(spec.priorityLevelConfiguration.name)).toBe(true);
  expect((await server.get(`${levels}/exempt`)).json.metadata.annotations).toEqual({ [annotation]: "true" });
});
