import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

test("version names the server", async () => {
  const { serverVersion } = JSON.parse(await kubectl.ok(["version", "-o", "json"]));
  expect(serverVersion).toMatchObject({ major: "1", minor: "36" });
  expect(serverVersion.gitVersion).toStartWith("v1.36.2+quorate.");
});

test("api-versions lists the served groups", async () => {
  const versions = (await kubectl.ok(["api-versions"])).trimEnd().split("\n");
  expect(versions).toContain("v1");
  expect(versions).toContain("coordination.k8s.io/v1");
});

test("api-resources lists names, short names, scope and kind", async () => {
  const lines = (await kubectl.ok(["api-resources", "--no-headers"])).trimEnd().split("\n");
  const cells = lines.map((line) => line.trimEnd().split(/ +/));
  expect(cells).toContainEqual(["pods", "po", "v1", "true", "Pod"]);
  expect(cells).toContainEqual(["namespaces", "ns", "v1", "false", "Namespace"]);
  expect(cells).toContainEqual(["leases", "coordination.k8s.io/v1", "true", "Lease"]);
});

test("api-resources -o wide lists the verbs and the categories", async () => {
  const printed = await kubectl.ok(["api-resources", "-o", "wide", "--no-headers", "--categories=all"]);
  expect(printed).toMatch(/^pods .*create,delete,deletecollection,get,list,patch,update,watch +all$/m);
});

describe("explain", () => {
  test("a kind", async () => {
    const printed = await kubectl.ok(["explain", "pod"]);
    expect(printed).toMatch(/^KIND: +Pod$/m);
    expect(printed).toMatch(/^VERSION: +v1$/m);
    expect(printed).toMatch(/^ {2}spec\t<PodSpec>$/m);
  });

  test("a field with its required subfields", async () => {
    const printed = await kubectl.ok(["explain", "pod.spec.containers"]);
    expect(printed).toMatch(/^FIELD: containers <\[\]Container>$/m);
    expect(printed).toMatch(/^ {2}name\t<string> -required-$/m);
    expect(printed).toMatch(/^ {2}ports\t<\[\]ContainerPort>$/m);
  });

  test("metadata, in words that upstream's conformance tests look for", async () => {
    const printed = await kubectl.ok(["explain", "pod.metadata"]);
    expect(printed).toMatch(/FIELDS:.*creationTimestamp.*CreationTimestamp is a timestamp/s);
  });

  test("--recursive prints the whole tree", async () => {
    const printed = await kubectl.ok(["explain", "pod.spec", "--recursive"]);
    expect(printed).toMatch(/^ {2}containers\t<\[\]Container> -required-$/m);
    expect(printed).toMatch(/^ {4}resources\t<ResourceRequirements>$/m);
    expect(printed).toMatch(/^ {6}limits\t<map\[string\]Quantity>$/m);
  });

  test("a field that does not exist", async () => {
    expect(await kubectl.refused(["explain", "pod.nothing"])).toBe('error: field "nothing" does not exist');
  });

  test.each(["configmaps", "secrets", "events", "namespaces", "nodes", "serviceaccounts", "leases"])(
    "%s, down to the leaves",
    async (resource) => {
      const printed = await kubectl.ok(["explain", resource, "--recursive"]);
      expect(printed).toMatch(/^ {4}resourceVersion\t<string>$/m);
    },
  );
});

describe("raw paths", () => {
  test.each(["/livez", "/readyz", "/healthz"])("%s?verbose lists its checks", async (path) => {
    const printed = await kubectl.ok(["get", "--raw", `${path}?verbose`]);
    expect(printed).toMatch(/^\[\+\]ping ok$/m);
    expect(printed).toMatch(/ check passed\n$/);
  });

  test("/version is JSON", async () => {
    expect(JSON.parse(await kubectl.ok(["get", "--raw", "/version"]))).toMatchObject({ minor: "36" });
  });

  test("create, replace and delete work on a raw path", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const made = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "raw" }, data: { a: "1" } };
    await kubectl.ok(["create", "--raw", path, "-f", "-"], { input: JSON.stringify(made) });
    const changed = { ...made, data: { a: "2" } };
    await kubectl.ok(["replace", "--raw", `${path}/raw`, "-f", "-"], { input: JSON.stringify(changed) });
    expect(await kubectl.ok(["get", "configmap", "raw", "-o", "jsonpath={.data.a}"])).toBe("2");
    expect(JSON.parse(await kubectl.ok(["delete", "--raw", `${path}/raw`]))).toMatchObject({ status: "Success" });
  });
});

test("proxy passes requests through, watches included", async () => {
  await using proxy = kubectl.start(["proxy", "--port=0"]);
  const printed = await proxy.until((text) => text.includes("\n"));
  const base = `http://127.0.0.1:${/:([0-9]+)\n/.exec(printed)?.[1]}`;
  const namespace = await fetch(`${base}/api/v1/namespaces/default`);
  expect(await namespace.json()).toMatchObject({ kind: "Namespace", metadata: { name: "default" } });

  const watch = await fetch(
    `${base}/api/v1/namespaces?watch=true&timeoutSeconds=1&fieldSelector=metadata.name=default`,
  );
  const first = JSON.parse((await watch.text()).split("\n")[0] ?? "");
  expect(first).toMatchObject({ type: "ADDED", object: { metadata: { name: "default" } } });
});

test("an unknown kind is unknown", async () => {
  expect(await kubectl.refused(["get", "gadgets"])).toBe(`error: the server doesn't have a resource type "gadgets"`);
});
