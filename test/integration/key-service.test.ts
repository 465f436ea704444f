import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KmsPlugin } from "../../src/storage/encryption/kms/testing.ts";
import { configurationFile } from "../../src/storage/encryption/testing.ts";
import { HastenedClock } from "../conformance/hastened-clock.ts";
import { Kubectl } from "../conformance/kubectl.ts";
import { eventually, MemberProcess } from "./member-process.ts";
import { filesWith, marker } from "./plain-text.ts";
import { SecretWriters } from "./secret-writers.ts";
import { mergePatch, TestServer } from "./server.ts";

const root = mkdtempSync(join(tmpdir(), "quorate-key-service-"));
const members: MemberProcess[] = [];
afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  rmSync(root, { recursive: true });
});

const secrets = "/api/v1/namespaces/default/secrets";

/** Starts a plugin in a directory of its own, and writes the configuration that uses it. */
async function newPlugin(name: string, ...resources: string[]) {
  const directory = join(root, name);
  mkdirSync(directory);
  const plugin = new KmsPlugin(join(directory, "kms.sock"));
  await plugin.start();
  const kms = { apiVersion: "v2", name: "vault", endpoint: `unix://${plugin.path}`, timeout: "2s" };
  const file = join(directory, "encryption.json");
  writeFileSync(
    file,
    configurationFile([
      ["secrets", ...resources],
      [{ kms }, { identity: {} }],
    ]),
  );
  return { plugin, directory, file };
}

test("no byte on disk shows a Secret, and status, health and metrics tell of the key service", async () => {
  const { plugin, directory, file } = await newPlugin("bytes");
  await using _ = plugin;
  const dataDir = join(directory, "data");
  const value = marker("value");
  {
    await using server = await TestServer.start({ dataDir, encryptionProviderConfig: file });
    await server.create(secrets, { metadata: { name: "s", labels: { l: value } }, stringData: { a: value } });
    await server.patch(`${secrets}/s`, mergePatch, { stringData: { b: value } });
    await server.create(secrets, { metadata: { name: "gone" }, stringData: { a: value } });
    await server.delete(`${secrets}/gone`);
    const snapshot = await server.get("/cluster/snapshot");
    writeFileSync(join(directory, "snapshot"), snapshot.bytes);
    for (const path of ["/healthz/kms-providers", "/readyz/kms-providers"]) {
      expect((await server.get(path)).text).toBe("ok");
    }
    expect((await server.get("/livez/kms-providers")).code).toBe(404);
    expect((await server.get("/cluster/status")).json.encryption).toEqual({
      resources: [{ resources: "secrets", providers: ["kms", "identity"] }],
      unreadable: 0,
    });
    const metrics = (await server.get("/metrics")).text;
    for (const sample of [
      /^apiserver_envelope_encryption_kms_operations_latency_seconds_count\{provider_name="vault",method_name="\/v2\.KeyManagementService\/Encrypt",grpc_status_code="OK"\} 1$/m,
      /^apiserver_envelope_encryption_key_id_hash_total\{transformation_type="to_storage",provider_name="vault",key_id_hash="sha256:[0-9a-f]{64}",apiserver_id_hash="sha256:[0-9a-f]{64}"\} [1-9]/m,
      /^apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds\{.*\} [1-9]/m,
      /^apiserver_envelope_encryption_dek_source_cache_size\{provider_name="vault"\} 1$/m,
      /^apiserver_storage_transformation_operations_total\{resource="secrets",transformation_type="to_storage",transformer_prefix="k8s:enc:kms:v2:vault:",status="OK"\} [1-9]/m,
      /^apiserver_storage_data_key_generation_duration_seconds_count 1$/m,
      /^apiserver_storage_envelope_transformation_cache_misses_total 0$/m,
    ]) {
      expect(metrics).toMatch(sample);
    }
  }
  expect(filesWith(directory, value)).toEqual([]);
  await using server = await TestServer.start({ dataDir, encryptionProviderConfig: file });
  expect(atob((await server.get(`${secrets}/s`)).json.data.b)).toBe(value);
  expect((await server.get("/metrics")).text).toMatch(/envelope_transformation_cache_misses_total 1\n/);
}, 60_000);

test("without its key service a server serves the rest, and Secrets again when the service comes", async () => {
  const { plugin, directory, file } = await newPlugin("down");
  await using _ = plugin;
  const clock = new HastenedClock();
  const options = { dataDir: join(directory, "data"), encryptionProviderConfig: file, clock };
  {
    await using server = await TestServer.start(options);
    await server.create(secrets, { metadata: { name: "s" }, stringData: { a: "x" } });
    plugin.stop();
    // Known seeds read, and write until they expire.
    expect((await server.get(`${secrets}/s`)).code).toBe(200);
    expect((await server.patch(`${secrets}/s`, mergePatch, { stringData: { a: "y" } })).code).toBe(200);
    await clock.pass(200);
    const { code, json } = await server.patch(`${secrets}/s`, mergePatch, { stringData: { a: "z" } });
    expect([code, json.reason]).toEqual([500, "InternalError"]);
    expect(json.message).toMatch(
      /^Internal error occurred: encryptedDEKSource with keyID hash "sha256:[0-9a-f]{64}" expired at \S+ \(current time is \S+\)$/,
    );
    expect((await server.get(`${secrets}/s`)).code).toBe(200);
    const health = await server.get("/healthz/kms-providers");
    expect([health.code, health.text]).toEqual([
      500,
      expect.stringContaining("rpc error: code = DeadlineExceeded desc = context deadline exceeded"),
    ]);
  }
  await using server = await TestServer.start(options);
  const read = await server.get(`${secrets}/s`);
  expect([read.code, read.json.message]).toEqual([500, "Internal error occurred: got unexpected nil transformer"]);
  expect((await server.get(secrets)).code).toBe(500);
  expect((await server.get("/api/v1/namespaces")).code).toBe(200);
  expect((await server.get("/readyz")).code).toBe(500);
  await plugin.start();
  await eventually(async () => {
    await clock.pass(10);
    return (await server.get(`${secrets}/s`)).code === 200 ? true : undefined;
  });
  expect((await server.get("/readyz")).code).toBe(200);
  expect((await server.get("/cluster/status")).json.encryption.unreadable).toBe(0);
}, 90_000);

test("the key of the service changes while clients write, and nothing is lost", async () => {
  const { plugin, directory, file } = await newPlugin("rotated");
  await using _ = plugin;
  const clock = new HastenedClock();
  const options = { dataDir: join(directory, "data"), encryptionProviderConfig: file, clock };
  let writers: SecretWriters;
  {
    await using server = await TestServer.start(options);
    await using kubectl = await Kubectl.open(server.running.kubeconfig);
    const names = Array.from({ length: 12 }, (_, at) => `s${at}`);
    for (const name of names) await server.create(secrets, { metadata: { name } });
    writers = new SecretWriters(server, names.slice(0, 10));
    plugin.service.keyId = "key-2";
    await clock.pass(61);
    await writers.rewriteAll(kubectl);
    expect(plugin.service.calls.filter((name) => name === "Encrypt").length).toBe(2);
    const unchanged = await server.get(`${secrets}/s11`);
    const same = await server.put(`${secrets}/s11`, unchanged.json);
    expect(same.json.metadata.resourceVersion).toBe(unchanged.json.metadata.resourceVersion);
  }
  plugin.service.lostKeys.add("key-1");
  await using server = await TestServer.start(options);
  await writers.check(server);
}, 90_000);

test("each of three replicas reads at once what the others encrypt with seeds of their own", async () => {
  const { plugin, directory, file } = await newPlugin("replicas", "configmaps");
  await using _ = plugin;
  const flags = ["--encryption-provider-config", file];
  const value = marker("shared");
  for (const name of ["a", "b", "c"]) members.push(await MemberProcess.create(directory, name));
  const [first, second, third] = members as [MemberProcess, MemberProcess, MemberProcess];
  await first.start(["cluster", "init"], [...first.flags, ...flags]);
  const invitation = await first.invitation();
  await second.start(invitation, [...second.flags, ...flags]);
  await third.start(invitation, [...third.flags, ...flags]);
  const write = async (member: MemberProcess, name: string) => {
    const body = { metadata: { name }, stringData: { a: value } };
    expect((await member.request("POST", secrets, body)).code).toBe(201);
    for (const reader of members) {
      const { code, json } = await reader.request("GET", `${secrets}/${name}`);
      expect([reader.name, code, json.data?.a]).toEqual([reader.name, 200, btoa(value)]);
    }
  };
  for (const member of members) await write(member, `by-${member.name}`);
  // A replica has a new seed after each start.
  await second.stop("SIGKILL");
  await second.start(["up"], [...second.flags, ...flags]);
  await write(second, "again");
  for (const member of members) {
    const { json } = await member.request("GET", secrets);
    const names = json.items.map(({ metadata }: any) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(["by-a", "by-b", "by-c", "again"]));
    expect((await member.request("GET", "/cluster/status")).json.encryption.unreadable).toBe(0);
  }
  for (const member of members) await member.stop();
  for (const member of members) expect(filesWith(member.directory, value)).toEqual([]);
}, 120_000);
