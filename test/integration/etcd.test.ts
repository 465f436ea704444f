import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerOptions, startServer } from "../../src/index.ts";
import { EtcdMember, hasEtcd } from "../etcd/etcd-member.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";

setDefaultTimeout(60_000);

if (hasEtcd("etcd.test.ts")) {
  let etcd: EtcdMember;
  let servers: TestServer[] = [];

  const start = async (options: ServerOptions = {}): Promise<TestServer> => {
    const server = TestServer.of(await startServer({ etcdServers: [etcd.url], ...options }));
    servers.push(server);
    return server;
  };
  beforeEach(async () => {
    etcd = await EtcdMember.start();
  });
  afterEach(async () => {
    for (const server of servers) await server.close();
    servers = [];
    await etcd[Symbol.asyncDispose]();
  });

  test("objects survive their server, whose data directory holds only certificates", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "quorate-on-etcd-"));
    const first = await start({ dataDir });
    const made = await first.create(configMaps, { metadata: { name: "kept", labels: { a: "b" } }, data: { k: "v" } });
    await first.create("/api/v1/namespaces/default/pods", {
      metadata: { name: "kept" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    const pod = (await first.get("/api/v1/namespaces/default/pods/kept")).json;
    await first.close();
    servers = [];
    expect((await readdir(dataDir)).sort()).toEqual(["kubeconfig", "pki", "server-id"]);
    await rm(dataDir, { recursive: true });
    const second = await start();
    expect((await second.get(`${configMaps}/kept`)).json).toEqual(made);
    expect((await second.get("/api/v1/namespaces/default/pods/kept")).json).toEqual(pod);
    expect(
      (await second.get(`${configMaps}?labelSelector=a=b&fieldSelector=metadata.name=kept`)).json.items,
    ).toHaveLength(1);
  });

  test("custom resources survive their server, too", async () => {
    const first = await start();
    await first.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    await until(
      () => first.get("/apis/example.com/v1/widgets"),
      ({ code }) => code === 200,
    );
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: { size: 3 } };
    const made = await first.create(path, widget);
    await first.close();
    servers = [];
    const second = await start();
    expect((await second.get(`${path}/w`)).json).toEqual(made);
    expect((await second.put(`${path}/w`, { ...made, spec: { size: 4 } })).json.spec).toEqual({ size: 4 });
  });

  test("two servers have one history: a watch of one sees the other's writes, and resumes at either", async () => {
    const [one, two] = [await start(), await start()];
    const since = await one.revision();
    await using watch = await two.watch(`${configMaps}?resourceVersion=${since}`);
    const made = await one.create(configMaps, { metadata: { name: "shared" }, data: { k: "1" } });
    const patched = await two.patch(`${configMaps}/shared`, "application/merge-patch+json", { data: { k: "2" } });
    expect((await one.get(`${configMaps}/shared`)).json).toEqual(patched.json);
    await one.delete(`${configMaps}/shared`);
    const seen = [await watch.next(), await watch.next(), await watch.next()];
    expect(seen.map((event) => event?.type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
    await using later = await one.watch(`${configMaps}?resourceVersion=${made.metadata.resourceVersion}`);
    expect((await later.next())?.object.data).toEqual({ k: "2" });
    const stale = { ...made, data: { k: "3" } };
    expect((await two.put(`${configMaps}/shared`, stale)).code).toBe(404);
  });

  test("the service of the servers names both, and a server that stops leaves it", async () => {
    const [one, two] = [await start({ controllers: "*" }), await start({ controllers: "*" })];
    const portsOf = async (server: TestServer) =>
      ((await server.get(endpoints)).json.subsets ?? []).flatMap(({ ports }: any) =>
        ports.map(({ port }: any) => port),
      );
    const both = [one.running.port, two.running.port].sort((a, b) => a - b);
    await until(
      () => portsOf(one),
      (ports) =>
        Bun.deepEquals(
          ports.toSorted((a: number, b: number) => a - b),
          both,
        ),
    );
    await two.close();
    servers = [one];
    await until(
      () => portsOf(one),
      (ports) => Bun.deepEquals(ports, [one.running.port]),
    );
  });

  test("the checks fail while etcd does not answer, and everything goes on afterwards", async () => {
    const server = await start({ etcdHealthcheckTimeoutMs: 300, etcdReadycheckTimeoutMs: 300 });
    await using watch = await server.watch(configMaps);
    await etcd.kill();
    const sick = await server.get("/readyz?verbose");
    expect(sick.code).toBe(500);
    expect(sick.text).toContain("[-]etcd failed: reason withheld\n[-]etcd-readiness failed: reason withheld\n");
    expect((await server.get("/livez/etcd")).text).toBe("internal server error: etcd does not answer\n");
    etcd.spawn();
    await etcd.ready();
    await until(
      () => server.get("/readyz"),
      ({ code }) => code === 200,
    );
    await server.create(configMaps, { metadata: { name: "afterwards" } });
    for (;;) {
      const event = await watch.next();
      if (event?.object.metadata.name === "afterwards") break;
    }
  });

  test("Events expire by leases, and etcd's size is a metric", async () => {
    const server = await start({ eventTtlMs: 2_000 });
    await server.create("/api/v1/namespaces/default/events", {
      metadata: { name: "short" },
      involvedObject: { kind: "Pod", namespace: "default", name: "p" },
    });
    const path = "/api/v1/namespaces/default/events/short";
    expect((await server.get(path)).code).toBe(200);
    await until(
      () => server.get(path),
      ({ code }) => code === 404,
    );
    const metrics = await until(
      () => server.get("/metrics"),
      ({ text }) => text.includes("apiserver_storage_size_bytes"),
    );
    expect(metrics.text).toMatch(/^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} \d+$/m);
  });

  test("a server whose etcd was restored from an older copy says so and fails", async () => {
    const server = await start();
    await etcd.kill();
    const copy = join(etcd.directory, "copy");
    await cp(join(etcd.directory, "data"), copy, { recursive: true });
    etcd.spawn();
    await etcd.ready();
    await until(
      () => server.post(configMaps, { metadata: { name: "lost" } }),
      ({ code }) => code === 201 || code === 409,
    );
    await etcd.kill();
    await cp(copy, join(etcd.directory, "data"), { recursive: true, force: true });
    etcd.spawn();
    expect((await server.running.failed).message).toStartWith("etcd went back from revision");
  });
}

const definition = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
          },
        },
      },
    ],
  },
};
