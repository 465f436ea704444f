import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../until.ts";
import { mergePatch, TestServer } from "../server.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-secret-errors-"));
const auditLog = join(directory, "audit.log");
const stored = "c3RvcmVkLXZhbHVl";
const sent = "a-sent-value";
let server: TestServer;
let path: string;
let patches = 0;

beforeAll(async () => {
  const policy = join(directory, "policy.yaml");
  writeFileSync(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  server = await TestServer.start({ auditPolicyFile: policy, auditLogPath: auditLog });
  const secrets = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  await server.create(secrets, { metadata: { name: "s" }, data: { password: stored } });
  path = `${secrets}/s`;
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

const strategic = "application/strategic-merge-patch+json";
const json = "application/json-patch+json";
const apply = "application/apply-patch+yaml";
const typeOf = { kind: "Secret", apiVersion: "v1", metadata: { name: "s" } };

test.each<[type: string, patch: unknown]>([
  [mergePatch, { data: { a: 7 } }],
  [mergePatch, { data: { a: sent } }],
  [mergePatch, { stringData: { a: [sent] } }],
  [strategic, { data: { a: 7, b: sent } }],
  [json, [{ op: "add", path: "/data/a", value: 7 }]],
  [json, [{ op: "replace", path: "/data", value: sent }]],
  [json, [{ op: "test", path: "/data/password", value: sent }]],
  [apply, { ...typeOf, data: sent }],
  [apply, { ...typeOf, data: [sent] }],
  [apply, { ...typeOf, data: { a: [sent] } }],
  [apply, { ...typeOf, stringData: { a: { b: sent } } }],
])("a refused %s of a Secret shows no value: %j", async (type, patch) => {
  const query = type === apply ? "?fieldManager=m" : "";
  const { code, text } = await server.patch(path + query, type, patch);
  patches++;
  expect(code).toBeGreaterThanOrEqual(400);
  for (const value of [stored, sent]) expect(text).not.toContain(value);
});

test("nor does the audit log show any of the values", async () => {
  const read = () => readFileSync(auditLog, "utf8");
  const events = await until(read, (text) => text.split('"verb":"patch"').length > patches);
  for (const value of [stored, sent]) expect(events).not.toContain(value);
});
