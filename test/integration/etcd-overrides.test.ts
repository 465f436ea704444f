import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { type ServerOptions, startServer } from "../../src/index.ts";
import { methods } from "../../src/storage/etcd/client/messages.ts";
import { rangeOfPrefix } from "../../src/storage/etcd/key-range.ts";
import { EtcdMember, hasEtcd } from "../etcd/etcd-member.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const events = "/api/v1/namespaces/default/events";
const configMaps = "/api/v1/namespaces/default/configmaps";

setDefaultTimeout(60_000);

if (hasEtcd("etcd-overrides.test.ts")) {
  let etcd: EtcdMember;
  let ofEvents: EtcdMember;
  let servers: TestServer[] = [];

  const start = async (options: ServerOptions = {}): Promise<TestServer> => {
    const elsewhere = { etcdServersOverrides: [`/events#${ofEvents.url}`] };
    const server = TestServer.of(await startServer({ etcdServers: [etcd.url], ...elsewhere, ...options }));
    servers.push(server);
    return server;
  };
  beforeEach(async () => {
    [etcd, ofEvents] = await Promise.all([EtcdMember.start(), EtcdMember.start()]);
  });
  afterEach(async () => {
    for (const server of servers) await server.close();
    servers = [];
    await Promise.all([etcd[Symbol.asyncDispose](), ofEvents[Symbol.asyncDispose]()]);
  });

  test("Events have an etcd of their own, with its revisions", async () => {
    const server = await start();
    for (let i = 0; i < 5; i++) await server.create(configMaps, { metadata: { name: `c-${i}` } });
    const made = await server.create(events, eventNamed("a"));
    expect(await keysIn(ofEvents)).toContain("/registry/events/default/a");
    expect((await keysIn(etcd)).filter((key) => key.startsWith("/registry/events/"))).toEqual([]);
    expect((await keysIn(ofEvents)).filter((key) => !key.startsWith("/registry/events/"))).toEqual([]);

    const listed = (await server.get(events)).json;
    expect(Number(listed.metadata.resourceVersion)).toBeLessThan(Number(await server.revision()));
    await using watch = await server.watch(`${events}?resourceVersion=${listed.metadata.resourceVersion}`);
    await using resumed = await server.watch(`${events}?resourceVersion=${made.metadata.resourceVersion}`);
    await server.patch(`${events}/a`, "application/merge-patch+json", { reason: "Changed" });
    expect((await watch.next())?.object.reason).toBe("Changed");
    expect((await resumed.next())?.object.reason).toBe("Changed");
    const other = await server.get("/apis/events.k8s.io/v1/namespaces/default/events/a");
    expect(other.json.reason).toBe("Changed");

    await using later = await (await start()).watch(`${events}?resourceVersion=${made.metadata.resourceVersion}`);
    expect((await later.next())?.object.reason).toBe("Changed");
  });

  test("an Event in the main etcd is not served, and its namespace takes the Events along", async () => {
    const before = await start({ etcdServersOverrides: [] });
    await before.create(events, eventNamed("old"));
    await before.close();
    servers = [];
    const server = await start();
    expect((await server.get(`${events}/old`)).code).toBe(404);
    await server.create("/api/v1/namespaces", { metadata: { name: "short" } });
    await server.create("/api/v1/namespaces/short/events", eventNamed("e", "short"));
    await server.delete("/api/v1/namespaces/short");
    await until(
      () => server.get("/api/v1/namespaces/short"),
      ({ code }) => code === 404,
    );
    expect(await keysIn(ofEvents)).not.toContain("/registry/events/short/e");
    expect((await server.post("/api/v1/namespaces/short/events", eventNamed("late", "short"))).code).toBe(404);
  });

  test("either etcd can fail alone, and each has its checks and its metric", async () => {
    const server = await start({ etcdHealthcheckTimeoutMs: 300, etcdReadycheckTimeoutMs: 300 });
    const metrics = await until(
      () => server.get("/metrics"),
      ({ text }) => text.includes('storage_cluster_id="etcd-1"'),
    );
    expect(metrics.text).toMatch(/^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} \d+$/m);
    await ofEvents.kill();
    const sick = await server.get("/readyz?verbose");
    expect(sick.code).toBe(500);
    expect(sick.text).toContain("[+]etcd ok\n[+]etcd-readiness ok\n[-]etcd-override-0 failed: reason withheld\n");
    expect(sick.text).toContain("[-]etcd-override-readiness-0 failed: reason withheld\n");
    const partly = await server.get("/readyz?verbose&exclude=etcd&exclude=etcd-readiness");
    expect(partly.code).toBe(200);
    expect(partly.text).toContain("[+]etcd excluded: ok\n");
    expect(partly.text).toContain("[+]etcd-override-0 excluded with etcd: ok\n");
    await server.create(configMaps, { metadata: { name: "goes-on" } });
    ofEvents.spawn();
    await ofEvents.ready();
    await until(
      () => server.post(events, eventNamed("again")),
      ({ code }) => code === 201,
    );
  });
}

function eventNamed(name: string, namespace = "default") {
  return { metadata: { name }, involvedObject: { kind: "Pod", namespace, name: "p" }, reason: "First" };
}

async function keysIn(member: EtcdMember): Promise<string[]> {
  using connection = member.connect();
  const request = { ...rangeOfPrefix("/registry/"), keysOnly: true };
  const { kvs } = await connection.call(methods.range, request, 5_000);
  return kvs.map(({ key }) => key.toString());
}
