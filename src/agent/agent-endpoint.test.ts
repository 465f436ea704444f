import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/until.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../access/certificates/authority.ts";
import type { Client } from "../client/client.ts";
import { ManualClock } from "../storage/cacher/testing.ts";
import { type AgentEndpointParts, openAgentEndpoint } from "./agent-endpoint.ts";
import type { AgentEndpointOptions } from "./agent-options.ts";
import { agentPaths } from "./join/agent-paths.ts";
import { writeCertificateFile } from "./join/certificate-file.ts";
import { loopbackAddress, MeasuredMachine } from "./node/measured-machine.ts";
import { FakeMachine, machineInfo, nodeSettings } from "./node/testing.ts";
import { KeptLog, ScriptedDirectory, ScriptedReviews } from "./serving/testing.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Valid now, and at the time of a manual clock. */
const validity = { notBeforeMs: 0, notAfterMs: Date.now() + 3_600_000 };
const caFile = join(directory, "clients.crt");
/** Longer than the interval at which files are checked. */
const checkMs = 6_000;

interface Authority extends KeyPair {
  readonly client: KeyPair;
}

function authorityNamed(commonName: string): Authority {
  const authority = createAuthority({ commonName, ...validity });
  const names = { organizations: [], dnsNames: [], ipAddresses: [] };
  return {
    ...authority,
    client: issueCertificate(authority, { commonName: "c", usage: "client", ...names, ...validity }),
  };
}

const clock = new ManualClock();
const errors: unknown[] = [];

async function partsWith(endpoint: Partial<AgentEndpointOptions>): Promise<AgentEndpointParts> {
  return {
    metrics: () => [],
    options: {
      kubeconfig: "/nonexistent",
      rootDirectory: directory,
      certificateDirectory: directory,
      node: nodeSettings,
      eviction: { limits: [], transitionMs: 300_000, podGraceSecondsMax: 0 },
      rotatesClientCertificate: true,
      runtime: { kind: "simulated" },
      logDirectory: "/nonexistent",
      dns: { servers: [], domain: "cluster.local" },
      manifestPath: undefined,
      flagTexts: new Map([["max-pods", "110"]]),
      endpoint: {
        host: "127.0.0.1",
        port: 0,
        healthAddress: undefined,
        readOnlyAddress: undefined,
        certificate: { kind: "own" },
        clientCaFile: caFile,
        hasDebuggingHandlers: true,
        anonymous: false,
        tokenWebhook: false,
        tokenTtlMs: 0,
        authorizationMode: "AlwaysAllow",
        authorizedTtlMs: 0,
        unauthorizedTtlMs: 0,
        ...endpoint,
      },
    },
    client: new ScriptedReviews().client,
    authority: undefined,
    paths: agentPaths("/nonexistent", directory),
    directory: new ScriptedDirectory(),
    requireSync() {},
    machine: await MeasuredMachine.open(new FakeMachine()),
    clock,
    random: () => 0.5,
    log: new KeptLog(),
    onError: (error) => void errors.push(error),
  };
}

function asking(port: number, path: string, { certificate, key }: KeyPair): Promise<Response> {
  return fetch(`https://127.0.0.1:${port}${path}`, {
    tls: { rejectUnauthorized: false, cert: certificate, key },
    headers: { connection: "close" },
  });
}

const codeFor = async (port: number, client: KeyPair) => (await asking(port, "/pods", client)).status;

/** Lets time pass, and waits a moment for what the timers must not do. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await Bun.sleep(50);
}

test("the authorities of clients are followed, whatever the certificate is", async () => {
  const [before, after] = [authorityNamed("before"), authorityNamed("after")];
  writeFileSync(caFile, before.certificate);
  await using endpoint = await openAgentEndpoint(await partsWith({}));
  expect(await codeFor(endpoint.port, before.client)).toBe(200);
  expect(await codeFor(endpoint.port, after.client)).toBe(401);
  writeFileSync(caFile, after.certificate);
  clock.advance(checkMs);
  await until(async () => (await codeFor(endpoint.port, after.client)) === 200);
  expect(await codeFor(endpoint.port, before.client)).toBe(401);
  rmSync(caFile);
  clock.advance(checkMs);
  await until(() => errors.length > 0);
  await pass(checkMs);
  expect(errors.splice(0).map((error) => (error as Error).message)).toEqual([
    expect.stringContaining("--client-ca-file: ENOENT"),
  ]);
  expect(await codeFor(endpoint.port, after.client)).toBe(200);
});

test("a port in use fails the start when the cluster has issued the certificate before", async () => {
  const authority = authorityNamed("cluster");
  writeFileSync(caFile, authority.certificate);
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  const { port } = taken.address() as { port: number };
  const parts = await partsWith({ port, certificate: { kind: "cluster" } });
  await writeCertificateFile(parts.paths.servingCertificate, authority.client);
  const message = `port ${port} is in use: choose another one with --port (0 picks one)`;
  expect(await openAgentEndpoint(parts).catch((error: Error) => error.message)).toBe(message);
  rmSync(parts.paths.servingCertificate);
  taken.close();
});

test("a certificate of the cluster is requested when the machine has a network", async () => {
  const machine = new FakeMachine();
  machine.measured = { ...machineInfo, addresses: [loopbackAddress] };
  const measured = await MeasuredMachine.open(machine);
  const requested: string[] = [];
  const create: Client["create"] = async ({ resource }) => {
    requested.push(resource);
    throw new Error("refused");
  };
  const parts = await partsWith({ port: 10_250, certificate: { kind: "cluster" } });
  await using _endpoint = await openAgentEndpoint({ ...parts, machine: measured, client: { create } as Client });
  await pass(checkMs);
  expect(requested).toEqual([]);
  machine.measured = machineInfo;
  await measured.info();
  clock.advance(checkMs);
  await until(() => requested.includes("certificatesigningrequests"));
  errors.length = 0;
});

test("the ports without TLS are opened with the endpoint, and a taken one is named by its flag", async () => {
  writeFileSync(caFile, authorityNamed("clients").certificate);
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  const { port } = taken.address() as { port: number };
  const address = { host: "127.0.0.1", port };
  const health = await partsWith({ healthAddress: address });
  expect(await openAgentEndpoint(health).catch((error: Error) => error.message)).toBe(
    `port ${port} is in use: choose another one with --healthz-port (0 turns it off)`,
  );
  const readOnly = await partsWith({ readOnlyAddress: address });
  expect(await openAgentEndpoint(readOnly).catch((error: Error) => error.message)).toBe(
    `port ${port} is in use: choose another one with --read-only-port (0 turns it off)`,
  );
  await new Promise((done) => taken.close(done));
  await using _endpoint = await openAgentEndpoint(health);
  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe("ok");
});

test("/healthz has a check of whether the pods are looked after", async () => {
  const authority = authorityNamed("clients");
  writeFileSync(caFile, authority.certificate);
  let problem: string | undefined;
  const requireSync = () => {
    if (problem !== undefined) throw new Error(problem);
  };
  await using endpoint = await openAgentEndpoint({ ...(await partsWith({})), requireSync });
  const textOf = async (path: string) => (await asking(endpoint.port, path, authority.client)).text();
  expect(await textOf("/healthz?verbose")).toBe("[+]ping ok\n[+]syncloop ok\nhealthz check passed\n");
  problem = "sync Loop took longer than expected";
  expect(await textOf("/healthz/syncloop")).toBe(`internal server error: ${problem}\n`);
});

test("/flagz shows the flags", async () => {
  const authority = authorityNamed("clients");
  writeFileSync(caFile, authority.certificate);
  await using endpoint = await openAgentEndpoint(await partsWith({}));
  expect(await (await asking(endpoint.port, "/flagz", authority.client)).text()).toEndWith("\nmax-pods 110\n");
});

test("/configz shows whether the client certificate is renewed", async () => {
  const authority = authorityNamed("clients");
  writeFileSync(caFile, authority.certificate);
  const parts = await partsWith({});
  await using endpoint = await openAgentEndpoint({
    ...parts,
    options: { ...parts.options, rotatesClientCertificate: false },
  });
  const { kubeletconfig } = JSON.parse(await (await asking(endpoint.port, "/configz", authority.client)).text());
  expect(kubeletconfig).toMatchObject({
    rotateCertificates: false,
    serverTLSBootstrap: false,
    maxPods: 110,
    enableProfilingHandler: false,
    enableDebugFlagsHandler: false,
    healthzPort: 0,
    readOnlyPort: 0,
  });
});
