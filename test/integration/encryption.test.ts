import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configurationFile, provider } from "../../src/storage/encryption/testing.ts";
import { Kubectl } from "../conformance/kubectl.ts";
import { eventually, MemberProcess } from "./member-process.ts";
import { filesWith, marker } from "./plain-text.ts";
import { SecretWriters } from "./secret-writers.ts";
import { mergePatch, TestServer } from "./server.ts";

const root = mkdtempSync(join(tmpdir(), "quorate-encryption-"));
const members: MemberProcess[] = [];
afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  rmSync(root, { recursive: true });
});

const secrets = "/api/v1/namespaces/default/secrets";
const configMaps = "/api/v1/namespaces/default/configmaps";
const identity = { identity: {} };
const old = provider("aescbc", "old", 1);
const young = provider("aesgcm", "new", 2);
const box = provider("secretbox", "box", 3);

let files = 0;
function writeConfiguration(file: string, ...providers: object[]): string {
  // Replace the file as editors and kubelets do.
  const next = `${file}.${++files}`;
  writeFileSync(next, configurationFile([["secrets"], providers]));
  renameSync(next, file);
  return file;
}

function newConfiguration(...providers: object[]): string {
  return writeConfiguration(join(root, `encryption-${++files}.json`), ...providers);
}

function start(dataDir: string, encryptionProviderConfig?: string, reloads = false): Promise<TestServer> {
  const encryption = encryptionProviderConfig === undefined ? {} : { encryptionProviderConfig };
  return TestServer.start({
    dataDir,
    ...encryption,
    ...(reloads ? { encryptionProviderConfigAutomaticReload: true } : {}),
  });
}

test.each([
  ["aescbc", old],
  ["aesgcm", young],
  ["secretbox", box],
])(
  "attack 70: with %s, no byte on disk shows a Secret: log, database, snapshot, audit",
  async (name, cipher) => {
    const directory = join(root, name);
    mkdirSync(directory);
    const policy = join(directory, "policy.yaml");
    writeFileSync(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
    const dataDir = join(directory, "data");
    const [value, label, note, visible] = ["value", "label", "note", "visible"].map(marker) as [
      string,
      string,
      string,
      string,
    ];
    {
      await using server = await TestServer.start({
        dataDir,
        encryptionProviderConfig: newConfiguration(cipher, identity),
        auditPolicyFile: policy,
        auditLogPath: join(directory, "audit.log"),
      });
      for (const each of ["kept", "changed", "deleted"]) {
        const metadata = { name: each, labels: { l: label }, annotations: { note } };
        await server.create(secrets, { metadata, stringData: { a: value } });
      }
      await server.patch(`${secrets}/changed`, mergePatch, { stringData: { b: value } });
      await server.delete(`${secrets}/deleted`);
      await server.create(configMaps, { metadata: { name: "c" }, data: { a: visible } });
      const listed = await server.get(`${secrets}?labelSelector=l%3D${label}`);
      expect(listed.json.items.map(({ metadata }: any) => metadata.name)).toEqual(["changed", "kept"]);
      const snapshot = await server.get("/cluster/snapshot");
      expect(snapshot.code).toBe(200);
      writeFileSync(join(directory, "snapshot"), snapshot.bytes);
      expect((await server.get("/cluster/status")).json.encryption).toEqual({
        resources: [{ resources: "secrets", providers: [name, "identity"] }],
        unreadable: 0,
      });
      const metrics = (await server.get("/metrics")).text;
      const written = `resource="secrets",transformation_type="to_storage",transformer_prefix="k8s:enc:${name}:v1:",status="OK"`;
      expect(metrics).toContain(`apiserver_storage_transformation_operations_total{${written}} `);
    }
    for (const text of [value, note]) expect(filesWith(directory, text)).toEqual([]);
    // The audit log shows it in the selector of the list.
    expect(filesWith(dataDir, label)).toEqual([]);
    expect(filesWith(directory, visible).some((file) => file.startsWith("data/"))).toBe(true);
    expect(filesWith(directory, visible)).toContain("snapshot");

    await using server = await start(dataDir, newConfiguration(cipher));
    const { json } = await server.get(`${secrets}/changed`);
    expect(atob(json.data.b)).toBe(value);
    expect(json.metadata.annotations.note).toBe(note);
  },
  60_000,
);

describe("without the key of an object", () => {
  const refusal = (message: string) => ({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
  });

  test("requests for it and its lists fail with upstream's words, and the server serves the rest", async () => {
    const dataDir = join(root, "lost");
    {
      await using server = await start(dataDir, newConfiguration(old));
      await server.create(secrets, { metadata: { name: "s" }, stringData: { a: "x" } });
    }
    for (const [configuration, message] of [
      [newConfiguration(young, identity), "no matching prefix found"],
      [newConfiguration(provider("aescbc", "other", 1)), "no matching key was found for the provided AES transformer"],
      [newConfiguration(provider("aescbc", "old", 9)), "invalid padding on input"],
      [undefined, "identity transformer tried to read encrypted data"],
    ] as const) {
      await using server = await start(dataDir, configuration);
      for (const [method, path, body] of [
        ["GET", `${secrets}/s`],
        ["GET", secrets],
        ["GET", "/api/v1/secrets?resourceVersion=0"],
        ["GET", `${secrets}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`],
        ["DELETE", `${secrets}/s`],
        ["PATCH", `${secrets}/s`, { data: {} }],
      ] as const) {
        const options = body === undefined ? {} : { body, type: mergePatch };
        const { code, json } = await server.request(method, path, options);
        expect({ code, reason: json.reason, message: json.message }).toEqual(refusal(message));
      }
      expect((await server.get(configMaps)).code).toBe(200);
      expect((await server.get("/readyz")).code).toBe(200);
      expect((await server.get("/cluster/status")).json.encryption.unreadable).toBe(1);
    }
    await using server = await start(dataDir, newConfiguration(young, old));
    expect((await server.get(`${secrets}/s`)).code).toBe(200);
  }, 60_000);
});

test("a key is rotated by reloads and kubectl replace, while clients write", async () => {
  const dataDir = join(root, "rotated");
  const file = newConfiguration(old, identity);
  let writers: SecretWriters;
  {
    await using server = await start(dataDir, file, true);
    await using kubectl = await Kubectl.open(server.running.kubeconfig);
    const names = Array.from({ length: 20 }, (_, at) => `s${at}`);
    for (const name of names) await server.create(secrets, { metadata: { name }, stringData: { n: "0" } });
    writers = new SecretWriters(server, names.slice(0, 18));
    const use = async (...providers: object[]) => {
      writeConfiguration(file, ...providers);
      const hash = new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex");
      await eventually(async () =>
        (await server.get("/metrics")).text.includes(`hash="sha256:${hash}"`) ? true : undefined,
      );
    };
    await use(old, young);
    await use(young, old);
    await writers.rewriteAll(kubectl);
    await use(young);

    const unchanged = await server.get(`${secrets}/s19`);
    const same = await server.put(`${secrets}/s19`, unchanged.json);
    expect(same.json.metadata.resourceVersion).toBe(unchanged.json.metadata.resourceVersion);
    const metrics = (await server.get("/metrics")).text;
    expect(metrics).toMatch(
      /apiserver_encryption_config_controller_automatic_reloads_total\{status="success",.*\} 3\n/,
    );
    expect((await server.get("/healthz/kms-providers")).code).toBe(200);
    writeFileSync(file, "not a configuration");
    await eventually(async () =>
      /automatic_reloads_total\{status="failure",.*\} [1-9]/.test((await server.get("/metrics")).text)
        ? true
        : undefined,
    );
    expect((await server.get(secrets)).code).toBe(200);
    writeConfiguration(file, young);
  }
  await using server = await start(dataDir, file);
  await writers.check(server);
}, 60_000);

test("an update without a change encrypts what was plain, and decrypts it again", async () => {
  const dataDir = join(root, "gradual");
  const replaceSame = async (server: TestServer) => {
    const before = (await server.get(`${secrets}/s`)).json;
    const after = (await server.put(`${secrets}/s`, before)).json;
    const again = (await server.put(`${secrets}/s`, after)).json;
    const versions = [before, after, again].map(({ metadata }) => metadata.resourceVersion);
    expect(versions[1]).not.toBe(versions[0]);
    expect(versions[2]).toBe(versions[1]);
  };
  {
    await using server = await start(dataDir);
    await server.create(secrets, { metadata: { name: "s" }, stringData: { a: "x" } });
  }
  {
    await using server = await start(dataDir, newConfiguration(box, identity));
    await replaceSame(server);
  }
  {
    await using server = await start(dataDir, newConfiguration(identity, box));
    await replaceSame(server);
  }
  await using server = await start(dataDir);
  expect((await server.get(`${secrets}/s`)).json.data.a).toBe("eA==");
}, 60_000);

test("a wrong configuration stops the start with one line", async () => {
  const file = newConfiguration({ aescbc: { keys: [{ name: "k", secret: "YWJj" }] } });
  expect(start(join(root, "wrong"), file)).rejects.toThrow(
    `--encryption-provider-config: error while parsing file: resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32]`,
  );
  expect(TestServer.start({ encryptionProviderConfigAutomaticReload: true })).rejects.toThrow(
    "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config",
  );
});

test("three replicas hold the same bytes, and each reads what the others encrypt", async () => {
  const file = newConfiguration(old, identity);
  const flags = ["--encryption-provider-config", file, "--encryption-provider-config-automatic-reload"];
  const value = marker("shared");
  for (const name of ["a", "b", "c"]) members.push(await MemberProcess.create(root, name));
  const [first, second, third] = members as [MemberProcess, MemberProcess, MemberProcess];
  await first.start(["cluster", "init"], [...first.flags, ...flags]);
  const invitation = await first.invitation();
  await second.start(invitation, [...second.flags, ...flags]);
  await first.request("POST", secrets, { metadata: { name: "before" }, stringData: { a: value } });
  await third.start(invitation, [...third.flags, ...flags]);
  for (const member of members) {
    const { code } = await member.request("POST", secrets, {
      metadata: { name: member.name },
      stringData: { a: value },
    });
    expect(code).toBe(201);
  }
  for (const member of members) {
    const { json } = await member.request("GET", secrets);
    const values = json.items.filter(({ data }: any) => data?.a === btoa(value));
    expect(values.map(({ metadata }: any) => metadata.name)).toEqual(["a", "b", "before", "c"]);
  }
  const report = await eventually(async () => {
    const { code, out } = await first.run("status", "-o", "json");
    const report = code === 0 ? JSON.parse(out) : undefined;
    return report?.members.every(({ health, lag }: any) => health === "ok" && lag === 0) ? report : undefined;
  });
  expect(report.encryption).toEqual([{ resources: "secrets", providers: ["aescbc", "identity"] }]);
  const hashes = await eventually(async () => {
    const answers = await Promise.all(members.map((member) => member.request("GET", "/cluster/status")));
    const at = new Set(answers.map(({ json }) => json.appliedIndex));
    return at.size === 1 ? new Set(answers.map(({ json }) => json.stateHash)) : undefined;
  });
  expect(hashes.size).toBe(1);
  expect((await first.run("status")).out).toContain("secrets (aescbc)");
  await third.stop();
  await third.start(["up"], third.flags);
  const { code, json } = await third.request("GET", `${secrets}/before`);
  expect([code, json.message]).toEqual([
    500,
    "Internal error occurred: identity transformer tried to read encrypted data",
  ]);
  expect((await first.request("GET", `${secrets}/before`)).code).toBe(200);
  expect((await first.run("status")).out).toContain("member 3: it cannot read 5 objects");
  for (const member of members) await member.stop();
  for (const member of members) expect(filesWith(member.directory, value)).toEqual([]);
}, 120_000);
