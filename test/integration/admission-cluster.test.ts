import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, MemberProcess } from "./member-process.ts";
import { TlsService } from "./tls-service.ts";

/**
 * Policies and webhooks on three replicas. The replica that acknowledges a change enforces it from then on. The others
 * enforce it from the log entry on: a replica that has applied the change uses it for the next request.
 */
const root = mkdtempSync(join(tmpdir(), "quorate-admission-"));
const members: MemberProcess[] = [];
const admission = "/apis/admissionregistration.k8s.io/v1";
const limits = "/apis/cluster.example.com/v1/limits";
const maps = "/api/v1/namespaces/default/configmaps";
const startMsMax = 120_000;
const changes = 12;
let hook: TlsService;
let count = 0;

beforeAll(async () => {
  hook = new TlsService(async (request) => {
    const { apiVersion, request: asked }: any = await request.json();
    return Response.json({
      apiVersion,
      kind: "AdmissionReview",
      response: { uid: asked.uid, allowed: false, status: { message: "not today" } },
    });
  });
  for (const name of ["a", "b", "c"]) members.push(await MemberProcess.create(root, name));
  const [first, ...others] = members as [MemberProcess, ...MemberProcess[]];
  await first.start(["cluster", "init"]);
  const invitation = await first.invitation();
  for (const member of others) await member.start(invitation);
  await eventually(async () => {
    const { code, out } = await first.run("status", "-o", "json");
    const roles = code === 0 ? JSON.parse(out).members.map(({ role }: { role: string }) => role) : [];
    return roles.filter((role: string) => role !== "learner").length === members.length ? roles : undefined;
  });
}, startMsMax);

afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  await hook[Symbol.asyncDispose]();
  rmSync(root, { recursive: true });
});

/** A change that affects later requests. */
interface Change {
  readonly method: "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: { readonly metadata: object };
}

/**
 * Makes the change at one replica after another, and writes at each of them. `code` is the expected code of a write
 * afterwards.
 */
async function judgedBy(at: number, { method, path, body }: Change, code: number): Promise<void> {
  const [writer, ...readers] = members.map((_, offset) => members[(at + offset) % members.length]) as [
    MemberProcess,
    ...MemberProcess[],
  ];
  const { resourceVersion } = method === "PUT" ? (await writer.request("GET", path)).json.metadata : {};
  const sent = body && { ...body, metadata: { ...body.metadata, resourceVersion } };
  const acknowledged = await writer.request(method, path, sent);
  expect({ path, code: acknowledged.code }).toEqual({ path, code: method === "POST" ? 201 : 200 });
  expect(await codeOfWrite(writer)).toBe(code);
  const changed = method === "POST" ? `${path}/${acknowledged.json.metadata.name}` : path;
  for (const reader of readers) {
    expect((await reader.request("GET", changed)).code).toBe(method === "DELETE" ? 404 : 200);
    expect(await codeOfWrite(reader)).toBe(code);
  }
}

async function codeOfWrite(member: MemberProcess): Promise<number> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `c${++count}` }, data: { a: "" } };
  return (await member.request("POST", maps, body)).code;
}

const configMaps = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };

test(
  "a policy, its binding and its parameter are enforced by every replica that knows of them",
  async () => {
    const [first] = members as [MemberProcess];
    await first.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "limits.cluster.example.com" },
      spec: {
        group: "cluster.example.com",
        scope: "Cluster",
        names: { plural: "limits", kind: "Limit" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { max: { type: "integer" } } } },
          },
        ],
      },
    });
    for (const member of members) {
      await eventually(async () => ((await member.request("GET", limits)).code === 200 ? true : undefined));
    }
    const paramKind = { apiVersion: "cluster.example.com/v1", kind: "Limit" };
    const limit = (max: number) => ({ ...paramKind, metadata: { name: "l" }, max });
    const policies = `${admission}/validatingadmissionpolicies`;
    const bindings = `${admission}/validatingadmissionpolicybindings`;
    const policy = (expression: string) => ({
      metadata: { name: "p" },
      spec: { paramKind, matchConstraints: { resourceRules: [configMaps] }, validations: [{ expression }] },
    });
    const paramRef = { name: "l", parameterNotFoundAction: "Deny" };
    const binding = {
      metadata: { name: "b" },
      spec: { policyName: "p", paramRef, validationActions: ["Deny"] },
    };
    const bySize = policy("size(object.data) <= params.max");
    await judgedBy(0, { method: "POST", path: limits, body: limit(1) }, 201);
    await judgedBy(1, { method: "POST", path: policies, body: bySize }, 201);
    await judgedBy(2, { method: "POST", path: bindings, body: binding }, 201);
    for (let at = 0; at < changes; at += 4) {
      await judgedBy(at, { method: "PUT", path: `${limits}/l`, body: limit(0) }, 422);
      await judgedBy(at + 1, { method: "PUT", path: `${policies}/p`, body: policy("true") }, 201);
      await judgedBy(at + 2, { method: "PUT", path: `${policies}/p`, body: bySize }, 422);
      await judgedBy(at + 3, { method: "PUT", path: `${limits}/l`, body: limit(1) }, 201);
    }
    await judgedBy(1, { method: "DELETE", path: `${limits}/l` }, 422);
    await judgedBy(2, { method: "DELETE", path: `${bindings}/b` }, 201);
    await judgedBy(0, { method: "DELETE", path: `${policies}/p` }, 201);
  },
  startMsMax,
);

test(
  "a webhook configuration is enforced by every replica that knows of it",
  async () => {
    const configurations = `${admission}/validatingwebhookconfigurations`;
    const configuration = (resource: string) => ({
      metadata: { name: "w" },
      webhooks: [
        {
          name: "deny.example.com",
          clientConfig: { url: `${hook.url}/`, caBundle: btoa(hook.ca) },
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          rules: [{ ...configMaps, resources: [resource] }],
        },
      ],
    });
    for (let at = 0; at < changes; at += 4) {
      await judgedBy(at, { method: "POST", path: configurations, body: configuration("configmaps") }, 400);
      await judgedBy(at + 1, { method: "PUT", path: `${configurations}/w`, body: configuration("secrets") }, 201);
      await judgedBy(at + 2, { method: "PUT", path: `${configurations}/w`, body: configuration("configmaps") }, 400);
      await judgedBy(at + 3, { method: "DELETE", path: `${configurations}/w` }, 201);
    }
  },
  startMsMax,
);
