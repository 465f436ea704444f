import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "crontabs.stable.example.com" },
  spec: {
    group: "stable.example.com",
    scope: "Namespaced",
    names: { plural: "crontabs", singular: "crontab", kind: "CronTab", shortNames: ["ct"], categories: ["all"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [
          { name: "Spec", type: "string", jsonPath: ".spec.cronSpec" },
          { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  cronSpec: { type: "string", description: "When it runs.", pattern: "^[*0-9 ]+$" },
                  replicas: { type: "integer", default: 1 },
                },
              },
              status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
};

function cronTab(name: string, cronSpec: string): string {
  return JSON.stringify({
    apiVersion: "stable.example.com/v1",
    kind: "CronTab",
    metadata: { name },
    spec: { cronSpec },
  });
}

beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

test("kubectl installs a definition, waits for it and explains it", async () => {
  await kubectl.run(["apply", "-f", "-"], { input: JSON.stringify(definition) });
  const waited = await kubectl.run(["wait", "--for=condition=Established", "crd/crontabs.stable.example.com"]);
  expect(waited).toMatchObject({ code: 0, stderr: "" });
  const resources = await kubectl.run(["api-resources", "--api-group=stable.example.com", "--no-headers"]);
  expect(resources.stdout).toMatch(/^crontabs\s+ct\s+stable.example.com\/v1\s+true\s+CronTab/);
  const explained = await kubectl.run(["explain", "crontab.spec"]);
  expect(explained.stdout).toContain("KIND:       CronTab");
  expect(explained.stdout).toContain("When it runs.");
});

test("kubectl applies objects on both sides, and the schema is checked", async () => {
  expect((await kubectl.run(["apply", "-f", "-"], { input: cronTab("a", "* 1") })).stdout).toBe(
    "crontab.stable.example.com/a created\n",
  );
  expect((await kubectl.run(["apply", "-f", "-"], { input: cronTab("a", "* 2") })).stdout).toBe(
    "crontab.stable.example.com/a configured\n",
  );
  expect((await kubectl.run(["apply", "--server-side", "-f", "-"], { input: cronTab("b", "* 3") })).code).toBe(0);
  const refused = await kubectl.run(["apply", "-f", "-"], { input: cronTab("c", "never") });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("spec.cronSpec in body should match '^[*0-9 ]+$'");
  const unknown = await kubectl.run(["apply", "-f", "-"], {
    input: cronTab("d", "1").replace('"cronSpec"', '"nonsense"'),
  });
  expect(unknown.stderr).toContain('unknown field "spec.nonsense"');
});

test("kubectl prints the columns, scales, patches and deletes", async () => {
  const table = await kubectl.run(["get", "ct", "a"]);
  expect(table.stdout).toMatch(/^NAME +SPEC +REPLICAS\na +\* 2 +1\n$/);
  expect((await kubectl.run(["scale", "--replicas=4", "crontab/a"])).code).toBe(0);
  expect((await kubectl.get(["crontab", "a"])).spec.replicas).toBe(4);
  await kubectl.run(["patch", "crontab", "a", "--type=merge", "-p", '{"spec":{"replicas":2}}']);
  await kubectl.run([
    "patch",
    "crontab",
    "a",
    "--subresource=status",
    "--type=merge",
    "-p",
    '{"status":{"phase":"Up"}}',
  ]);
  const waited = await kubectl.run(["wait", "--for=jsonpath={.status.phase}=Up", "crontab/a"]);
  expect(waited.code).toBe(0);
  expect((await kubectl.get(["crontab", "a"])).metadata.generation).toBe(4);
  expect((await kubectl.run(["get", "all"])).stdout).toContain("crontab.stable.example.com/a");
});

test("kubectl deletes a definition with all of its objects", async () => {
  const deleted = await kubectl.run(["delete", "crd", "crontabs.stable.example.com"]);
  expect(deleted.stdout).toContain('"crontabs.stable.example.com" deleted');
  const gone = await kubectl.run(["get", "crontabs"]);
  expect(gone.stderr).toContain("the server could not find the requested resource");
});
