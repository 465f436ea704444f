import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createAuthority, issueCertificate } from "../access/certificates/authority.ts";
import { listen } from "../http/listener.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { ExecCredentials, parseExecPlugin } from "./exec-credential.ts";
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
  test("is kept until shortly before its end, or until it is not accepted", async () => {
    const { path, prints, runs } = script();
    prints({ token: "one", expirationTimestamp: new Date(nowMs + 60_000).toISOString() });
    const credentials = new ExecCredentials(plugin(path), clock);
    const [first, twin] = await Promise.all([credentials.get(), credentials.get()]);
    expect([first.token, twin.token, runs()]).toEqual(["one", "one", 1]);
    nowMs += 55_000;
    prints({ token: "two" });
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
    ["no mode, which v1 requires", { interactiveMode: "" }, /exec.interactiveMode/],
  ])("cannot be had with %s", (_name, change, message) => {
    expect(() => plugin("true", change)).toThrow(message);
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
