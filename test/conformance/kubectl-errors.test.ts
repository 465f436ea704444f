import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let scratch: string;
let kubectl: Kubectl;
let guest: Kubectl;
let stranger: Kubectl;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quorate-errors-"));
  const tokenAuthFile = join(scratch, "tokens.csv");
  await writeFile(tokenAuthFile, "guest-token,guest,u1,visitors\n");
  server = await startServer({ tokenAuthFile, authorizationMode: ["AlwaysDeny"] });
  kubectl = await Kubectl.open(server.kubeconfig);
  guest = await Kubectl.open(kubeconfigWithToken("guest-token"));
  stranger = await Kubectl.open(kubeconfigWithToken("no-such-token"));
  // The guest may not read discovery either. It uses the administrator's cache.
  await kubectl.ok(["api-resources", "--cache-dir", scratch]);
});

afterAll(async () => {
  await Promise.all([kubectl, guest, stranger].map((each) => each[Symbol.asyncDispose]()));
  await server.close({ graceMs: 0 });
  await rm(scratch, { recursive: true });
});

function kubeconfigWithToken(token: string): string {
  const cluster = { server: server.url, "certificate-authority-data": btoa(server.ca) };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "it",
    clusters: [{ name: "it", cluster }],
    users: [{ name: "it", user: { token } }],
    contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
  });
}

function createRefused(document: string | object, ...args: readonly string[]): Promise<string> {
  const input = typeof document === "string" ? document : JSON.stringify(document);
  return kubectl.refused(["create", "-f", "-", ...args], { input });
}

const named = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

describe("texts of errors", () => {
  test("NotFound", async () => {
    expect(await kubectl.refused(["get", "configmap", "missing"])).toBe(
      'Error from server (NotFound): configmaps "missing" not found',
    );
    expect(await kubectl.refused(["get", "lease", "missing"])).toBe(
      'Error from server (NotFound): leases.coordination.k8s.io "missing" not found',
    );
  });

  test("NotFound, of a namespace to create in", async () => {
    expect(await createRefused(named("lost"), "-n", "nowhere")).toBe(
      'Error from server (NotFound): error when creating "STDIN": namespaces "nowhere" not found',
    );
  });

  test("AlreadyExists", async () => {
    await kubectl.apply(named("taken"));
    expect(await createRefused(named("taken"))).toBe(
      'Error from server (AlreadyExists): error when creating "STDIN": configmaps "taken" already exists',
    );
  });

  test("Invalid, with one cause", async () => {
    expect(await createRefused(named("Bad_Name"))).toBe(
      'The ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain ' +
        "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric " +
        "character (e.g. 'example.com', regex used for validation is " +
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  });

  test("Invalid, with several causes", async () => {
    const containers = [
      { name: "main", image: "web", ports: [{ containerPort: 99_999 }] },
      { name: "main", image: "" },
    ];
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "bad" }, spec: { containers } };
    expect((await createRefused(pod)).split("\n")).toEqual([
      'The Pod "bad" is invalid: ',
      "* spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive",
      "* spec.containers[1].image: Required value",
      '* spec.containers[1].name: Duplicate value: "main"',
    ]);
  });

  test("an immutable config map stays as it is", async () => {
    await kubectl.apply({ ...named("fixed"), immutable: true, data: { a: "1" } });
    expect(await kubectl.refused(["patch", "configmap", "fixed", "-p", '{"data":{"a":"2"}}'])).toBe(
      'The ConfigMap "fixed" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    );
  });

  test("unknown fields are refused by default, all of them in one message", async () => {
    const message = await createRefused({ ...named("strict"), metadata: { name: "strict", lables: {} }, datum: {} });
    expect(message).toBe(
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ' +
        'ConfigMap: strict decoding error: unknown field "datum", unknown field "metadata.lables"',
    );
  });

  test("unknown fields are warned of with --validate=warn", async () => {
    const input = JSON.stringify({ ...named("warned"), datum: {} });
    const { code, stderr } = await kubectl.run(["create", "--validate=warn", "-f", "-"], { input });
    expect([code, stderr]).toEqual([0, 'Warning: unknown field "datum"\n']);
  });

  test("a value of the wrong type", async () => {
    expect(await createRefused({ ...named("typed"), data: { a: 1 } })).toStartWith(
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ' +
        "ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    );
  });

  test("an invalid patch", async () => {
    await kubectl.apply(named("patched"));
    const patch = ["patch", "configmap", "patched", "--type=json", "-p", '[{"op":"remove","path":"/data/none"}]'];
    expect(await kubectl.refused(patch)).toBe(
      "The request is invalid: the server rejected our request due to an error in our request",
    );
  });
});

describe("a user without rights", () => {
  test.each([
    [
      ["get", "pods"],
      'Error from server (Forbidden): pods is forbidden: User "guest" cannot list resource "pods" in API group "" in ' +
        'the namespace "default"',
    ],
    [
      ["get", "namespace", "default"],
      'Error from server (Forbidden): namespaces "default" is forbidden: User "guest" cannot get resource ' +
        '"namespaces" in API group "" in the namespace "default"',
    ],
    [
      ["get", "leases", "-A"],
      'Error from server (Forbidden): leases.coordination.k8s.io is forbidden: User "guest" cannot list resource ' +
        '"leases" in API group "coordination.k8s.io" at the cluster scope',
    ],
    [
      ["create", "configmap", "x"],
      'error: failed to create configmap: configmaps is forbidden: User "guest" cannot create resource "configmaps" in ' +
        'API group "" in the namespace "default"',
    ],
    [["get", "--raw", "/metrics"], 'Error from server (Forbidden): forbidden: User "guest" cannot get path "/metrics"'],
  ])("%p", async (args, message) => {
    expect(await guest.refused([...args, "--cache-dir", scratch])).toBe(`${message}: Everything is forbidden.`);
  });

  test("an administrator keeps every right", async () => {
    expect(await kubectl.ok(["get", "namespace", "default", "-o", "name"])).toBe("namespace/default\n");
  });

  test("an unknown token is not a user", async () => {
    expect(await stranger.refused(["get", "--raw", "/api/v1/namespaces"])).toBe(
      "error: You must be logged in to the server (Unauthorized)",
    );
  });
});
