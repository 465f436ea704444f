import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createAuthority, issueCertificate } from "../access/certificates/authority.ts";
import { listen } from "../http/listener.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { ExecCredentials, parseExecPlugin } from "./exec-credential.ts";
import { httpClient } from "./http-client.ts";
import { readKubeconfig, readUserProofs } from "./kubeconfig.ts";
import { kubeconfigEndpoint } from "./kubeconfig-endpoint.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const directory = mkdtempSync(join(tmpdir(), "quorate-"));
afterAll(() => rmSync(directory, { recursive: true }));

let nowMs = Date.now();
const clock: Clock = { ...systemClock, nowMs: () => nowMs };
let scripts = 0;

/** A command that prints what the file beside it holds, counts its runs and notes what it was told. */
function script(): { path: string; prints(status: object, version?: string): void; runs(): number; told(): any } {
  const path = join(directory, `plugin-${++scripts}`);
  const [output, log, info] = [`${path}.out`, `${path}.log`, `${path}.info`];
  writeFileSync(path, `#!/bin/sh\necho >> ${log}\nprintf %s "$KUBERNETES_EXEC_INFO" > ${info}\ncat ${output}\n`);
  chmodSync(path, 0o700);
  return {
    path,
    prints: (status, version = apiVersion) =>
      writeFileSync(output, JSON.stringify({ apiVersion: version, kind: "ExecCredential", status })),
    runs: () => (existsSync(log) ? readFileSync(log, "utf8").length : 0),
    told: () => JSON.parse(readFileSync(info, "utf8")),
  };
}

const plugin = (command: string, change: object = {}) =>
  parseExecPlugin({ apiVersion, command, interactiveMode: "Never", ...change }, directory, { server: "https://x" });

describe("a credential of a command", () => {
  test("is kept until its end, or until a server rejects it", async () => {
    const { path, prints, runs } = script();
    prints({ token: "one", expirationTimestamp: new Date(nowMs + 60_000).toISOString() });
    const credentials = new ExecCredentials(plugin(path), clock);
    const [first, twin] = await Promise.all([credentials.get(), credentials.get()]);
    expect([first.token, twin.token, runs()]).toEqual(["one", "one", 1]);
    nowMs += 59_000;
    prints({ token: "two" });
    expect((await credentials.get()).token).toBe("one");
    nowMs += 1_000;
    const second = await credentials.get();
    expect([second.token, runs()]).toEqual(["two", 2]);
    credentials.forget(first);
    await credentials.get();
    expect(runs()).toBe(2);
    credentials.forget(second);
    await credentials.get();
    expect(runs()).toBe(3);
  });

  test("comes from a command that is told where it is used, when it asks, and whether somebody is there", async () => {
    const { path, prints, told } = script();
    prints({ token: "t" });
    await new ExecCredentials(plugin(path), clock, false).get();
    expect(told()).toEqual({ kind: "ExecCredential", apiVersion, spec: { interactive: false } });
    const asks = plugin(path, { provideClusterInfo: true, interactiveMode: "IfAvailable" });
    await new ExecCredentials(asks, clock, true).get();
    expect(told().spec).toEqual({ cluster: { server: "https://x" }, interactive: true });
  });

  test("comes from a command beside the kubeconfig when its path is relative", async () => {
    const { path, prints } = script();
    prints({ token: "near" });
    expect((await new ExecCredentials(plugin(`./${basename(path)}`), clock).get()).token).toBe("near");
  });

  test("comes with arguments and variables of the kubeconfig", async () => {
    const shell = { args: ["-c", 'printf %s "$ANSWER"'], env: [{ name: "ANSWER", value: "" }] };
    const credential = { apiVersion, kind: "ExecCredential", status: { token: "from-env" } };
    shell.env = [{ name: "ANSWER", value: JSON.stringify(credential) }];
    expect((await new ExecCredentials(plugin("sh", shell), clock).get()).token).toBe("from-env");
  });

  test.each<[string, object, string, RegExp]>([
    ["nothing useful", {}, apiVersion, /neither a token nor a certificate/],
    ["half a certificate", { clientCertificateData: "x" }, apiVersion, /without its key/],
    ["no certificate", { clientCertificateData: "x", clientKeyData: "y" }, apiVersion, /unusable together/],
    ["another version", { token: "t" }, "client.authentication.k8s.io/v1beta1", /no ExecCredential of/],
    ["an end that is no time", { token: "t", expirationTimestamp: "soon" }, apiVersion, /no time/],
  ])("is refused when it is %s", async (_name, status, version, message) => {
    const { path, prints } = script();
    prints(status, version);
    await expect(new ExecCredentials(plugin(path), clock).get()).rejects.toThrow(message);
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ["fails", () => new ExecCredentials(plugin("false"), clock).get(), /ended with code 1/],
    [
      "is not installed, with the hint where to find it",
      () => new ExecCredentials(plugin("no-such-plugin", { installHint: "see the handbook" }), clock).get(),
      /cannot be run \(ENOENT\)\nsee the handbook/,
    ],
    [
      "needs somebody and nobody is there",
      () => new ExecCredentials(plugin("true", { interactiveMode: "Always" }), clock, false).get(),
      /needs a terminal/,
    ],
  ])("is an error when the command %s", async (_name, get, message) => {
    await expect(get()).rejects.toThrow(message);
  });

  test.each<[string, object, RegExp]>([
    ["no version", { apiVersion: "v1" }, /exec.apiVersion/],
    ["no command", { command: "" }, /exec.command is required/],
    ["a variable without a name", { env: [{ value: "x" }] }, /without a name/],
    ["a mode that nobody knows", { interactiveMode: "Sometimes" }, /exec.interactiveMode/],
    ["no mode, which v1 requires", { interactiveMode: "" }, /exec.interactiveMode/],
  ])("cannot be had with %s", (_name, change, message) => {
    expect(() => plugin("true", change)).toThrow(message);
  });

  test("comes from a command of v1beta1, which is told its own version", async () => {
    const older = "client.authentication.k8s.io/v1beta1";
    const { path, prints, told } = script();
    prints({ token: "old" }, older);
    expect((await new ExecCredentials(plugin(path, { apiVersion: older }), clock).get()).token).toBe("old");
    expect(told()).toEqual({ kind: "ExecCredential", apiVersion: older, spec: { interactive: false } });
  });

  test("is asked of a person in the mode Always", async () => {
    const { path, prints, told } = script();
    prints({ token: "asked" });
    await new ExecCredentials(plugin(path, { interactiveMode: "Always" }), clock, true).get();
    expect(told().spec).toEqual({ interactive: true });
  });

  test("has a mode by default in v1beta1", () => {
    const older = { apiVersion: "client.authentication.k8s.io/v1beta1", interactiveMode: "" };
    expect(plugin("true", older).interactiveMode).toBe("IfAvailable");
  });
});

test("an endpoint whose plugin gives a new certificate after a 401 reconnects with it", async () => {
  const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
  const authority = createAuthority({ commonName: "authority", ...validity });
  const issue = (commonName: string, usage: "client" | "server") => {
    const names = { commonName, organizations: [], dnsNames: ["localhost"], ipAddresses: [] };
    return issueCertificate(authority, { ...validity, ...names, usage });
  };
  const serving = issue("localhost", "server");
  const seen: string[] = [];
  const server = await listen({
    host: "localhost",
    port: 0,
    tls: { key: serving.key, cert: serving.certificate, ca: [authority.certificate] },
    async handle({ peer }) {
      const name = peer.kind === "verified" ? peer.commonName : peer.kind;
      seen.push(name);
      return { kind: "reply", code: name === "new" ? 200 : 401, headers: [], body: new TextEncoder().encode("{}") };
    },
  });
  const { path, prints } = script();
  const status = ({ certificate, key }: { certificate: string; key: string }) => ({
    clientCertificateData: certificate,
    clientKeyData: key,
  });
  prints(status(issue("old", "client")));
  const kubeconfig = join(directory, "kubeconfig");
  const cluster = {
    server: `https://localhost:${server.port}`,
    "certificate-authority-data": btoa(authority.certificate),
  };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
      clusters: [{ name: "c", cluster }],
      users: [{ name: "c", user: { exec: { apiVersion, command: path, interactiveMode: "Never" } } }],
    }),
  );
  const endpoint = kubeconfigEndpoint(kubeconfig, clock);
  expect((await endpoint.post("{}", AbortSignal.timeout(5_000))).code).toBe(401);
  prints(status(issue("new", "client")));
  expect((await endpoint.post("{}", AbortSignal.timeout(5_000))).code).toBe(200);
  expect(seen).toEqual(["old", "old", "old", "new"]);
  await server.close(0);
});

describe("a kubeconfig with an exec plugin", () => {
  const ca = createAuthority({
    commonName: "authority",
    notBeforeMs: Date.now() - 3_600_000,
    notAfterMs: Date.now() + 3_600_000,
  });
  const config = { audience: "x" };
  const kubeconfigOf = (user: object) => {
    const file = join(directory, `kubeconfig-${crypto.randomUUID()}`);
    const cluster = {
      server: "https://10.0.0.1:6443",
      "tls-server-name": "api",
      "certificate-authority-data": btoa(ca.certificate),
      extensions: [{ name: "client.authentication.k8s.io/exec", extension: config }],
    };
    const names = { contexts: [{ name: "c", context: { cluster: "c", user: "c" } }], "current-context": "c" };
    const text = { ...names, clusters: [{ name: "c", cluster }], users: [{ name: "c", user }] };
    writeFileSync(file, JSON.stringify(text));
    return file;
  };
  const exec = (command: string) => ({ apiVersion, command, interactiveMode: "Never", provideClusterInfo: true });

  test("tells the command about the cluster, with the configuration for it", async () => {
    const { path, prints, told } = script();
    prints({ token: "t" });
    await readKubeconfig(kubeconfigOf({ exec: exec(path) }), { clock }).proof();
    expect(told().spec.cluster).toEqual({
      server: "https://10.0.0.1:6443",
      "tls-server-name": "api",
      "certificate-authority-data": btoa(ca.certificate),
      config,
    });
  });

  test("uses a token that stands beside it, and does not run the command", async () => {
    const { path, runs } = script();
    const server = readKubeconfig(kubeconfigOf({ token: "fixed", exec: exec(path) }), { clock });
    expect([(await server.proof()).authorization, runs()]).toEqual(["Bearer fixed", 0]);
  });

  test("gives webhooks a new credential after one was rejected", async () => {
    const { path, prints, runs } = script();
    prints({ token: "one" });
    const { users } = readUserProofs(kubeconfigOf({ exec: exec(path) }), clock);
    const proof = await users.get("c")?.();
    await users.get("c")?.();
    expect(runs()).toBe(1);
    proof?.discard?.();
    prints({ token: "two" });
    expect([(await users.get("c")?.())?.authorization, runs()]).toEqual(["Bearer two", 2]);
  });
});

test("a client whose plugin prints another certificate uses a new connection, and closes the old one", async () => {
  const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
  const authority = createAuthority({ commonName: "authority", ...validity });
  const issue = (commonName: string, usage: "client" | "server") => {
    const names = { commonName, organizations: [], dnsNames: ["localhost"], ipAddresses: [] };
    return issueCertificate(authority, { ...validity, ...names, usage });
  };
  const serving = issue("localhost", "server");
  const seen: string[] = [];
  const server = await listen({
    host: "localhost",
    port: 0,
    tls: { key: serving.key, cert: serving.certificate, ca: [authority.certificate] },
    async handle({ peer }) {
      seen.push(peer.kind === "verified" ? peer.commonName : peer.kind);
      return { kind: "reply", code: 200, headers: [], body: new TextEncoder().encode("{}") };
    },
  });
  const { path, prints } = script();
  const print = ({ certificate, key }: { certificate: string; key: string }) =>
    prints({
      clientCertificateData: certificate,
      clientKeyData: key,
      expirationTimestamp: new Date(nowMs + 60_000).toISOString(),
    });
  const tls = { ca: authority.certificate, rejectUnauthorized: true };
  const credentials = new ExecCredentials(plugin(path), clock);
  using client = httpClient({
    url: `https://localhost:${server.port}`,
    async proof() {
      const { certificate } = await credentials.get();
      return { tls: { ...tls, ...certificate }, authorization: undefined };
    },
    renew: () => false,
  });
  const ask = () => client.get({ group: "", version: "v1", resource: "nodes" }, { name: "a" });
  print(issue("old", "client"));
  await ask();
  await ask();
  nowMs += 60_000;
  print(issue("new", "client"));
  await ask();
  expect(seen).toEqual(["old", "old", "new"]);
  await server.close(0);
});
