import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiVersionOf } from "../../src/api/gvk.ts";
import { type ResourceInfo } from "../../src/api/scheme/resource.ts";
import type { ServerOptions } from "../../src/index.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { configurationFile, provider } from "../../src/storage/encryption/testing.ts";
import { methods } from "../../src/storage/etcd/client/messages.ts";
import { EtcdMember, hasEtcd } from "../etcd/etcd-member.ts";
import { hasKubeApiserver, KubeApiserver } from "../etcd/kube-apiserver.ts";
import { until } from "../until.ts";
import { minimalObjects } from "./minimal-objects.ts";
import { TestServer } from "./server.ts";

const file = "test/integration/etcd-coexistence.test.ts";
const canRun = hasEtcd(file) && hasKubeApiserver(file);
const timeoutMs = 120_000;
const loadMs = 5_000;
const workers = 4;
const namespace = "test";
const merge = "application/merge-patch+json";

const featureGates = [
  "ClusterTrustBundle",
  "ClusterTrustBundleProjection",
  "DRADeviceTaintRules",
  "DRADeviceTaints",
  "DRAResourcePoolStatus",
  "GenericWorkload",
  "PodCertificateRequest",
  "StorageVersionAPI",
  "StorageVersionMigrator",
];
const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });
/** Kinds whose objects the servers make, change or remove themselves. */
const volatileKinds = new Set(["LeaseCandidate", "ServiceCIDR", "StorageVersion", "StorageVersionMigration"]);
const kinds = scheme.stored.filter(({ kind }) => !volatileKinds.has(kind));

/** A client of either server. */
type Request = (method: string, path: string, body?: unknown, type?: string) => Promise<{ code: number; json: any }>;

const requestOf =
  (server: TestServer): Request =>
  (method, path, body, type) =>
    server.request(method, path, { body, ...(type === undefined ? {} : { type }) });

function startQuorate(etcd: EtcdMember, options: ServerOptions = {}): Promise<TestServer> {
  return TestServer.start({
    ...options,
    etcdServers: [etcd.url],
    runtimeConfig: { "api/all": true },
    featureGates: Object.fromEntries(featureGates.map((gate) => [gate, true])),
    serviceClusterIpRange: "10.0.0.0/16",
    disableAdmissionPlugins: ["ServiceAccount"],
    controllers: "-*",
  });
}

function collectionOf(info: ResourceInfo): string {
  const root = `${info.group === "" ? "/api" : "/apis"}/${apiVersionOf(info)}`;
  return `${root}${info.namespaced ? `/namespaces/${namespace}` : ""}/${info.resource}`;
}

const gadgets = {
  collection: `/apis/custom.example.com/v1/namespaces/${namespace}/gadgets`,
  definition: {
    metadata: { name: "gadgets.custom.example.com" },
    spec: {
      group: "custom.example.com",
      scope: "Namespaced",
      names: { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: true,
        storage: name === "v2",
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        },
      })),
    },
  },
  object: { metadata: { name: "test" }, spec: { "10": 1, "2": [1.5, null, "<&>"], a: { z: 1, b: "ü" } } },
};

/** A definition in a group of built-in kinds, which kube-apiserver serves only if none of them is enabled. */
const inBuiltInGroup = {
  metadata: {
    name: "widgets.internal.apiserver.k8s.io",
    annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
  },
  spec: {
    group: "internal.apiserver.k8s.io",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [{ name: "v7", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

/** Creates an object of every kind, and returns their paths. */
async function createAll(request: Request): Promise<string[]> {
  const create = async (path: string, body: unknown) => {
    const { code, json } = await request("POST", path, body);
    expect({ path, code, message: code === 201 ? "" : json.message }).toEqual({ path, code: 201, message: "" });
    return `${path}/${json.metadata.name}`;
  };
  await create("/api/v1/namespaces", { metadata: { name: namespace } });
  const paths: string[] = [];
  const minimal = await minimalObjects(namespace);
  for (const info of kinds) {
    const { name = "test", fields, metadata } = minimal[`${info.group}/${info.kind}`] ?? {};
    const object = { kind: info.kind, apiVersion: apiVersionOf(info), metadata: { name, ...metadata }, ...fields };
    if (info.kind === "Namespace") object.metadata.name = "another";
    paths.push(await create(collectionOf(info), object));
  }
  await create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", gadgets.definition);
  await until(async () => (await request("GET", gadgets.collection)).code === 200);
  const object = { kind: "Gadget", apiVersion: "custom.example.com/v1", ...gadgets.object };
  paths.push(await create(gadgets.collection, object));
  return paths;
}

async function readAll(request: Request, paths: readonly string[]): Promise<Record<string, unknown>> {
  const objects: Record<string, unknown> = {};
  for (const path of paths) {
    const { code, json } = await request("GET", path);
    objects[path] = { code, json };
  }
  return objects;
}

describe.skipIf(!canRun)("quorate and kube-apiserver on one etcd", () => {
  test(
    "take turns: every object is the same under both, whoever wrote it last",
    async () => {
      await using etcd = await EtcdMember.start();
      let paths: string[];
      let written: Record<string, unknown>;
      {
        await using first = await KubeApiserver.start({ etcd: etcd.url, featureGates });
        const request = first.request.bind(first);
        paths = await createAll(request);
        // Its controllers add conditions to some objects.
        await until(() => readAll(request, paths).then((read) => JSON.stringify(read)), isSettled());
        written = await readAll(request, paths);
      }
      let changed: Record<string, unknown>;
      {
        await using server = await startQuorate(etcd);
        const request = requestOf(server);
        await until(async () => (await request("GET", gadgets.collection)).code === 200);
        expect(await readAll(request, paths)).toEqual(written);
        for (const path of paths) {
          const { code, json } = await request("PATCH", path, { metadata: { annotations: { by: "quorate" } } }, merge);
          expect({ path, code, message: code === 200 ? "" : json.message }).toEqual({ path, code: 200, message: "" });
        }
        changed = await readAll(request, paths);
      }
      await using last = await KubeApiserver.start({ etcd: etcd.url, featureGates });
      const request = last.request.bind(last);
      await until(async () => (await request("GET", gadgets.collection)).code === 200);
      expect(await readAll(request, paths)).toEqual(changed);
    },
    timeoutMs,
  );

  test.each(["aesgcm", "aescbc", "secretbox"])(
    "each opens what the other has encrypted with %s",
    async (kind) => {
      const directory = await mkdtemp(join(tmpdir(), "encryption-"));
      const config = join(directory, "config.json");
      const resources = ["secrets", "widgets.internal.apiserver.k8s.io"];
      await writeFile(config, configurationFile([resources, [provider(kind, "k", 1)]]), { mode: 0o600 });
      await using etcd = await EtcdMember.start();
      try {
        const flags = [
          `--encryption-provider-config=${config}`,
          "--etcd-prefix=/elsewhere",
          "--runtime-config=internal.apiserver.k8s.io/v1alpha1=false",
        ];
        await using other = await KubeApiserver.start({ etcd: etcd.url, featureGates: [], flags });
        const etcdPrefix = "/elsewhere";
        await using server = await startQuorate(etcd, { encryptionProviderConfig: config, etcdPrefix });
        const secrets = "/api/v1/namespaces/default/secrets";
        const theirs = await other.request("POST", secrets, { metadata: { name: "theirs" }, data: { a: "AAEC" } });
        await until(async () => (await server.get(`${secrets}/theirs`)).code === 200);
        expect((await server.get(`${secrets}/theirs`)).json).toEqual(theirs.json);
        const ours = await server.create(secrets, { metadata: { name: "ours" }, data: { a: "AAEC" } });
        expect((await other.request("GET", `${secrets}/ours`)).json).toEqual(ours);
        const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        await server.create(definitions, inBuiltInGroup);
        const widgets = "/apis/internal.apiserver.k8s.io/v7/namespaces/default/widgets";
        await until(async () => (await server.get(widgets)).code === 200);
        await until(async () => (await other.request("GET", widgets)).code === 200);
        const widget = (name: string) => ({
          apiVersion: "internal.apiserver.k8s.io/v7",
          kind: "Widget",
          metadata: { name },
        });
        const ourWidget = await server.create(widgets, widget("ours"));
        const theirWidget = await other.request("POST", widgets, widget("theirs"));
        expect((await other.request("GET", `${widgets}/ours`)).json).toEqual(ourWidget);
        await until(async () => (await server.get(`${widgets}/theirs`)).code === 200);
        expect((await server.get(`${widgets}/theirs`)).json).toEqual(theirWidget.json);
        using client = etcd.connect();
        for (const name of ["ours", "theirs"]) {
          for (const key of [
            `/elsewhere/secrets/default/${name}`,
            `/elsewhere/internal.apiserver.k8s.io/widgets/default/${name}`,
          ]) {
            const { kvs } = await client.call(methods.range, { key }, 1_000);
            expect(Buffer.from(kvs[0]?.value ?? []).toString("latin1")).toStartWith(`k8s:enc:${kind}:v1:k:`);
          }
        }
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    timeoutMs,
  );

  test(
    "agree on an etcd for Events alone, and on its health checks",
    async () => {
      await using etcd = await EtcdMember.start();
      await using ofEvents = await EtcdMember.start();
      const override = `/events#${ofEvents.url}`;
      const flags = [`--etcd-servers-overrides=${override}`];
      await using other = await KubeApiserver.start({ etcd: etcd.url, featureGates: [], flags });
      await using server = await startQuorate(etcd, { etcdServersOverrides: [override] });
      const events = "/api/v1/namespaces/default/events";
      const event = (name: string) => ({
        metadata: { name },
        involvedObject: { kind: "Pod", namespace: "default", name: "p" },
      });
      const { json: theirs } = await other.request("POST", events, event("theirs"));
      await until(async () => (await server.get(`${events}/theirs`)).code === 200);
      expect((await server.get(`${events}/theirs`)).json).toEqual(theirs);
      const ours = await server.create(events, event("ours"));
      expect((await other.request("GET", `${events}/ours`)).json).toEqual(ours);
      const checks = "/readyz?verbose&exclude=etcd-readiness";
      const etcdChecks = (text: string) => text.split("\n").filter((line) => line.includes("etcd"));
      const { text } = await other.request("GET", checks);
      expect(etcdChecks((await server.get(checks)).text)).toEqual(etcdChecks(text));
      expect(etcdChecks(text)).toHaveLength(4);
    },
    timeoutMs,
  );

  test(
    "run together: no update is lost, watches agree, and no address or port is given out twice",
    async () => {
      await using etcd = await EtcdMember.start();
      await using other = await KubeApiserver.start({ etcd: etcd.url, featureGates: [] });
      await using server = await startQuorate(etcd);
      const requests = [requestOf(server), other.request.bind(other) as Request];
      const [ours] = requests as [Request];
      await ours("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
      const counters = `/api/v1/namespaces/${namespace}/configmaps`;
      const services = `/api/v1/namespaces/${namespace}/services`;
      for (let at = 0; at < 3; at++) {
        await ours("POST", counters, { metadata: { name: `counter-${at}` }, data: { count: "0" } });
      }
      const { json: list } = await ours("GET", counters);
      const from = `${counters}?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
      const abort = new AbortController();
      const watches = [
        eventsOf(await server.watch(from.replace("watch=true&", "")).then(({ response }) => response), abort),
        eventsOf(await other.fetch("GET", from), abort),
      ];

      const counts = [0, 0, 0];
      const endMs = performance.now() + loadMs;
      const count = async (worker: number) => {
        for (let turn = 0; performance.now() < endMs; turn++) {
          const request = requests[(worker + turn) % 2] as Request;
          const at = (worker + turn) % counts.length;
          const { json } = await request("GET", `${counters}/counter-${at}`);
          json.data.count = String(Number(json.data.count) + 1);
          const { code } = await request("PUT", `${counters}/counter-${at}`, json);
          expect([200, 409]).toContain(code);
          if (code === 200) counts[at] = (counts[at] as number) + 1;
        }
      };
      const serve = async (worker: number) => {
        for (let turn = 0; performance.now() < endMs; turn++) {
          const request = requests[worker % 2] as Request;
          const name = `service-${worker}-${turn}`;
          const { code, json } = await request("POST", services, {
            metadata: { name },
            spec: { type: "NodePort", ports: [{ port: 80 }] },
          });
          expect({ code, message: code === 201 ? "" : json.message }).toEqual({ code: 201, message: "" });
          if (turn % 3 === 0) await request("DELETE", `${services}/${name}`);
        }
      };
      const all = Array.from({ length: workers }, (_, worker) => [count(worker), serve(worker)]);
      await Promise.all(all.flat());

      const final = await Promise.all(counts.map((_, at) => ours("GET", `${counters}/counter-${at}`)));
      expect(final.map(({ json }) => Number(json.data.count))).toEqual(counts);
      const total = counts.reduce((sum, each) => sum + each, 0);
      expect(total).toBeGreaterThan(0);
      await until(() => watches.every(({ revisions }) => revisions.length >= total));
      abort.abort();
      const [first, second] = watches.map(({ revisions }) => revisions);
      expect(first).toEqual(second as string[]);
      expect(first).toEqual((first as string[]).toSorted((a, b) => Number(a) - Number(b)));

      const made = (await ours("GET", services)).json.items as any[];
      const ports = made.map(({ spec }) => spec.ports[0].nodePort);
      expect(new Set(ports).size).toBe(made.length);
      expect(new Set(made.map(({ spec }) => spec.clusterIP)).size).toBe(made.length);
      expect((await other.request("GET", services)).json.items).toEqual(made);
      const { json: endpoints } = await ours("GET", "/api/v1/namespaces/default/endpoints/kubernetes");
      expect(JSON.stringify(endpoints.subsets)).toContain("192.0.2.1");
    },
    timeoutMs,
  );
});

/** Returns a check that a value has not changed for several reads. */
function isSettled(): (value: string) => boolean {
  let last = "";
  let same = 0;
  return (value) => {
    same = value === last ? same + 1 : 0;
    last = value;
    return same >= 10;
  };
}

/** Collects the resourceVersions of the events of a watch. */
function eventsOf(response: Response, abort: AbortController): { readonly revisions: string[] } {
  const revisions: string[] = [];
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  abort.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined));
  const decoder = new TextDecoder();
  let rest = "";
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) revisions.push(JSON.parse(line).object.metadata.resourceVersion);
    }
  })().catch(() => undefined);
  return { revisions };
}
