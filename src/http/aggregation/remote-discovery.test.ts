import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { RemoteDiscovery } from "./remote-discovery.ts";
import { type Asked, FakeApis, FakeBackends, servedApi, settled } from "./testing.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** An aggregated document with one resource in each version. */
function documentOf(group: string, ...versions: string[]) {
  const entries = versions.map((version) => ({
    version,
    resources: [{ resource: `${version}things`, verbs: ["get"] }],
  }));
  const body = { items: [{ metadata: { name: group }, versions: entries }] };
  return { code: 200, headers: { "content-type": aggregated, etag: '"1"' }, body };
}

async function open(apis: FakeApis, answer: ConstructorParameters<typeof FakeBackends>[0]) {
  const clock = new ManualClock();
  const backends = new FakeBackends(answer);
  const discovery = new RemoteDiscovery({ apis, backends, clock, random: () => 0 });
  const running = discovery.start();
  await settled();
  const advance = async (ms: number) => {
    clock.advance(ms);
    await settled();
  };
  const seen = () =>
    discovery.versions().map(({ group, version, freshness, resources }) => {
      return `${group}/${version} ${freshness} ${resources.map(({ resource }) => resource).join(",")}`;
    });
  return { clock, backends, discovery, running, advance, seen };
}

test("one download serves all APIServices of a server, with the identity of the aggregator", async () => {
  const apis = new FakeApis(
    servedApi("a.example/v1", "a"),
    servedApi("a.example/v2", "a"),
    servedApi("apps/v1", undefined),
  );
  const { backends, discovery, seen } = await open(apis, () => documentOf("a.example", "v1"));
  expect(backends.asked).toEqual([
    {
      service: "a",
      target: "/apis",
      user: "system:kube-aggregator",
      headers: { accept: `${aggregated},${aggregated.replace("v=v2", "v=v2beta1")}` },
    },
  ]);
  // A version that the server does not list has no resources.
  expect(seen()).toEqual(["a.example/v1 Current v1things", "a.example/v2 Current "]);
  expect(discovery.isSynced).toBe(true);
});

test("the next download is a minute later and sends the entity tag; 304 changes nothing", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"));
  const { backends, discovery, advance, seen } = await open(apis, () => documentOf("a.example", "v1"));
  const generation = discovery.generation();
  backends.answer = () => ({ code: 304 });
  await advance(59_999);
  expect(backends.asked).toHaveLength(1);
  await advance(1);
  expect(backends.asked.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"1"']);
  expect(seen()).toEqual(["a.example/v1 Current v1things"]);
  expect(discovery.generation()).toBe(generation);
});

test("a server that fails keeps its last resources as stale, and is asked again with growing pauses", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"));
  const { backends, advance, seen } = await open(apis, () => documentOf("a.example", "v1"));
  backends.answer = () => ({ code: 503 });
  await advance(60_000);
  expect(seen()).toEqual(["a.example/v1 Stale v1things"]);
  const pauses: number[] = [];
  for (let waitedMs = 0; pauses.length < 9; ) {
    const before = backends.asked.length;
    await advance(250);
    waitedMs += 250;
    if (backends.asked.length === before) continue;
    pauses.push(waitedMs);
    waitedMs = 0;
  }
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  backends.answer = () => documentOf("a.example", "v1");
  await advance(60_000);
  expect(seen()).toEqual(["a.example/v1 Current v1things"]);
});

test("a server that hangs is stale after 5 s, and delays no other", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"), servedApi("b.example/v1", "b"));
  const answer = ({ service }: Asked) => (service === "a" ? undefined : documentOf("b.example", "v1"));
  const { discovery, advance, seen } = await open(apis, answer);
  expect(seen()).toEqual(["a.example/v1 Pending ", "b.example/v1 Current v1things"]);
  expect(discovery.isSynced).toBe(false);
  await advance(5_000);
  expect(seen()).toEqual(["a.example/v1 Stale ", "b.example/v1 Current v1things"]);
  expect(discovery.isSynced).toBe(true);
});

test("an APIService that is not available is stale without a download, and is asked as soon as it is available", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a", { isAvailable: false }));
  const { backends, discovery, advance, seen } = await open(apis, () => documentOf("a.example", "v1"));
  await advance(600_000);
  expect([backends.asked.length, seen(), discovery.isSynced]).toEqual([0, ["a.example/v1 Stale "], true]);
  apis.set(servedApi("a.example/v1", "a"));
  await settled();
  expect(seen()).toEqual(["a.example/v1 Current v1things"]);
  apis.set(servedApi("a.example/v1", "a", { isAvailable: false }));
  await advance(600_000);
  expect([backends.asked.length, seen()]).toEqual([1, ["a.example/v1 Stale v1things"]]);
  apis.set();
  expect(seen()).toEqual([]);
});

test("a server without the aggregated form is asked for each group version", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"), servedApi("a.example/v2", "a"));
  const resources = [{ name: "things", namespaced: true, kind: "Thing", verbs: ["get"] }];
  const { backends, advance, seen } = await open(apis, ({ target }) => {
    return target === "/apis/a.example/v1" ? { code: 200, body: { resources } } : { code: 404, body: "no" };
  });
  expect(backends.asked.map(({ target }) => target)).toEqual(["/apis", "/apis/a.example/v1", "/apis/a.example/v2"]);
  expect(seen()).toEqual(["a.example/v1 Current things", "a.example/v2 Stale "]);
  backends.answer = ({ target }) =>
    target === "/apis/a.example/v2" ? { code: 200, body: { resources } } : { code: 404 };
  await advance(500);
  expect(seen()).toEqual(["a.example/v1 Stale things", "a.example/v2 Current things"]);
});

test.each([
  ["something else than JSON", "<html>"],
  ["a list where an object belongs", '{"items":[[]]}'],
  ["resources without end", JSON.stringify({ items: Array(100_000).fill({ versions: [] }) })],
])("a document with %s makes the server stale and harms nobody", async (_, body) => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"));
  const { seen } = await open(apis, () => ({ code: 200, headers: { "content-type": aggregated }, body }));
  expect(seen()).toEqual(["a.example/v1 Stale "]);
});

test("at most 16 downloads run at a time, and nothing runs after the end", async () => {
  const apis = new FakeApis(...Array.from({ length: 40 }, (_, at) => servedApi(`g${at}.example/v1`, `s${at}`)));
  const { backends, running, clock, advance } = await open(apis, () => undefined);
  expect(backends.asked).toHaveLength(16);
  await advance(5_000);
  expect(backends.asked).toHaveLength(32);
  running[Symbol.dispose]();
  await settled();
  await advance(600_000);
  expect([backends.asked.length, clock.timers]).toEqual([32, 0]);
});
