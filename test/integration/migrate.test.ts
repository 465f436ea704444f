import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../src/cli/program.ts";
import { methods } from "../../src/storage/etcd/client/messages.ts";
import { EtcdMember, hasEtcd } from "../etcd/etcd-member.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const canRun = hasEtcd("test/integration/migrate.test.ts");
const timeoutMs = 60_000;
const options = { controllers: "-*", disableAdmissionPlugins: ["ServiceAccount"] };

async function migrate(...args: string[]) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const terminal = {
    print: (line: string) => void printed.push(line),
    complain: (line: string) => void complaints.push(line),
    onStopSignal: () => ({ [Symbol.dispose]: () => undefined }),
    onUncaught: () => ({ [Symbol.dispose]: () => undefined }),
    exit: () => undefined,
  };
  return { code: await runCommand(["migrate", ...args], terminal), printed, complaints };
}

const collections = [
  "/api/v1/namespaces/test/configmaps",
  "/api/v1/namespaces/test/secrets",
  "/api/v1/namespaces/test/services",
  "/apis/apps/v1/namespaces/test/deployments",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/example.com/v1/widgets",
];

async function fill(server: TestServer): Promise<void> {
  await server.create("/api/v1/namespaces", { metadata: { name: "test" } });
  for (let at = 0; at < 5; at++) {
    await server.create("/api/v1/namespaces/test/configmaps", { metadata: { name: `c${at}` }, data: { a: "<&>ü" } });
  }
  await server.create("/api/v1/namespaces/test/secrets", { metadata: { name: "s" }, data: { a: "AAEC" } });
  const spec = { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] };
  await server.create("/api/v1/namespaces/test/services", { metadata: { name: "web" }, spec });
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "m", image: "m" }] } };
  await server.create("/apis/apps/v1/namespaces/test/deployments", {
    metadata: { name: "web" },
    spec: { selector: { matchLabels: { a: "b" } }, template },
  });
  await server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Cluster",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  });
  await until(async () => (await server.get("/apis/example.com/v1/widgets")).code === 200);
  await server.create("/apis/example.com/v1/widgets", {
    kind: "Widget",
    apiVersion: "example.com/v1",
    metadata: { name: "w" },
    spec: { "10": 1, "2": null },
  });
}

async function objectsIn(server: TestServer): Promise<any[]> {
  const lists = await Promise.all(collections.map((path) => server.get(path)));
  return lists.flatMap(({ json }) => json.items);
}

const withoutRevision = (objects: any[]) =>
  objects.map(({ metadata: { resourceVersion: _revision, ...metadata }, ...rest }) => ({ metadata, ...rest }));

describe.skipIf(!canRun)("objects migrate", () => {
  test(
    "from etcd to a data directory, and back",
    async () => {
      const directory = await mkdtemp(join(tmpdir(), "quorate-migrate-"));
      const dataDir = join(directory, "data");
      await using etcd = await EtcdMember.start();
      await using other = await EtcdMember.start();
      try {
        let before: any[];
        let revision: number;
        {
          await using server = await TestServer.start({ ...options, etcdServers: [etcd.url] });
          await fill(server);
          before = await objectsIn(server);
          revision = Number(await server.revision());
          expect((await migrate("--from-etcd", etcd.url, "--to", dataDir, "--dry-run")).complaints.join()).toMatch(
            /API servers are running|etcd has/,
          );
        }
        const dry = await migrate("--from-etcd", etcd.url, "--to", dataDir, "--dry-run");
        expect([dry.code, dry.printed.join()]).toEqual([0, expect.stringContaining("nothing would be refused")]);
        const there = await migrate("--from-etcd", etcd.url, "--to", dataDir);
        expect([there.code, there.printed.join()]).toEqual([0, expect.stringContaining("all read back")]);
        const dryAgain = await migrate("--from-etcd", etcd.url, "--to", dataDir, "--dry-run");
        expect([dryAgain.code, dryAgain.printed]).toEqual([1, []]);
        const again = await migrate("--from-etcd", etcd.url, "--to", dataDir);
        expect([again.code, again.complaints.at(-1)]).toEqual([
          1,
          expect.stringContaining("choose an empty directory"),
        ]);

        let after: any[];
        {
          await using server = await TestServer.start({ ...options, dataDir });
          expect(await objectsIn(server)).toEqual(before);
          expect(Number(await server.revision())).toBeGreaterThan(revision);
          const old = await server.get(`/api/v1/configmaps?resourceVersion=${revision}&resourceVersionMatch=Exact`);
          expect(old.code).toBe(410);
          const taken = await server.post("/api/v1/namespaces/test/services", {
            metadata: { name: "other" },
            spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] },
          });
          expect(taken.code).toBe(422);
          await server.patch("/api/v1/namespaces/test/configmaps/c0", "application/merge-patch+json", {
            data: { b: "2" },
          });
          const pod = {
            containers: [{ name: "m", image: "m", args: [], tty: false }],
            hostNetwork: false,
            nodeName: "",
          };
          await server.create("/api/v1/namespaces/test/pods", { metadata: { name: "p", labels: {} }, spec: pod });
          after = await objectsIn(server);
          revision = Number(await server.revision());
        }
        const back = await migrate("--from", dataDir, "--to-etcd", other.url);
        expect([back.code, back.printed.join(), back.complaints]).toEqual([
          0,
          expect.stringContaining("each compared"),
          expect.anything(),
        ]);
        // A migration that was interrupted leaves some objects out.
        using client = other.connect();
        const key = "/registry/configmaps/test/c3";
        await client.call(methods.txn, { compare: [], success: [{ deleteRange: { key } }], failure: [] }, 1_000);
        const repeated = await migrate("--from", dataDir, "--to-etcd", other.url);
        expect([repeated.code, repeated.complaints.join()]).toEqual([0, expect.stringContaining("are there already")]);
        {
          await using server = await TestServer.start({ ...options, etcdServers: [other.url] });
          const objects = await objectsIn(server);
          expect(withoutRevision(objects)).toEqual(withoutRevision(after));
          const old = await server.get(`/api/v1/configmaps?resourceVersion=${revision}&resourceVersionMatch=Exact`);
          expect(old.code).toBe(410);
          await using watch = await server.watch(`/api/v1/configmaps?resourceVersion=${revision}`);
          expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
          const newest = Math.max(...after.map(({ metadata }) => Number(metadata.resourceVersion)));
          for (const { metadata } of objects) expect(Number(metadata.resourceVersion)).toBeGreaterThan(newest);
          await server.patch("/api/v1/namespaces/test/configmaps/c0", "application/merge-patch+json", {
            data: { b: "3" },
          });
        }
        const refused = await migrate("--from", dataDir, "--to-etcd", other.url);
        expect(refused.code).toBe(1);
        expect(refused.complaints.join("\n")).toContain("/registry/configmaps/test/c0: etcd has it in another state");
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    timeoutMs,
  );

  test(
    "not if an object cannot be read, which a dry run says too",
    async () => {
      await using etcd = await EtcdMember.start();
      using client = etcd.connect();
      for (const key of ["/registry/pods/test/bad", "/registry/unknown/a"]) {
        const put = { key, value: Buffer.from("nonsense"), lease: 0 };
        await client.call(methods.txn, { compare: [], success: [{ put }], failure: [] }, 1_000);
      }
      const { code, complaints } = await migrate("--from-etcd", etcd.url, "--to", "/nowhere/data", "--dry-run");
      expect(code).toBe(1);
      expect(complaints.join("\n")).toContain("/registry/pods/test/bad: invalid character");
      expect(complaints.join("\n")).toContain("/registry/unknown/a: this key belongs to no known resource");
    },
    timeoutMs,
  );

  test.each([[["--from-etcd", "http://127.0.0.1:1"]], [["--to", "a", "--to-etcd", "http://127.0.0.1:1"]]])(
    "only with two sides: %j",
    async (args) => {
      const { code, complaints } = await migrate(...args);
      expect([code, complaints.join()]).toEqual([1, expect.stringContaining("migrate needs two sides")]);
    },
  );
});
