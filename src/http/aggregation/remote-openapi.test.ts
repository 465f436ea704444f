import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { RemoteOpenApi } from "./remote-openapi.ts";
import { type Asked, FakeApis, FakeBackends, servedApi, settled } from "./testing.ts";

const indexOf = (...keys: string[]) => ({
  paths: Object.fromEntries(keys.map((key) => [key, { serverRelativeURL: `/openapi/v3/${key}?hash=A` }])),
});
const swaggerOf = (...paths: string[]) => ({
  info: { title: "t", version: "1" },
  paths: Object.fromEntries(paths.map((path) => [path, { get: { responses: {} } }])),
});

async function open(apis: FakeApis, answer: ConstructorParameters<typeof FakeBackends>[0]) {
  const clock = new ManualClock();
  const backends = new FakeBackends(answer);
  const documents = new RemoteOpenApi({ apis, backends, clock, random: () => 0 });
  const running = documents.start();
  await settled();
  const advance = async (ms: number) => {
    clock.advance(ms);
    await settled();
  };
  const pathsOf = () => documents.swaggers().map(({ paths }) => [...paths.keys()]);
  return { clock, backends, documents, running, advance, pathsOf };
}

test("both documents come once for all group versions of a server, in the name of the aggregator", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"), servedApi("a.example/v2", "a"));
  const { backends, documents, pathsOf } = await open(apis, ({ target }) =>
    target === "/openapi/v3"
      ? { code: 200, body: indexOf("apis/a.example/v1", "version") }
      : { code: 200, body: swaggerOf("/apis/a.example/v1/x", "/apis/a.example/v2/y", "/apis/apps/v1/z", "/version/") },
  );
  expect(backends.asked.map(({ target, user }) => [target, user])).toEqual([
    ["/openapi/v3", "system:aggregator"],
    ["/openapi/v2", "system:aggregator"],
  ]);
  expect(pathsOf()).toEqual([["/apis/a.example/v1/x"], ["/apis/a.example/v2/y"]]);
  expect([...documents.listed().keys()]).toEqual(["apis/a.example/v1", "version"]);
  expect(documents.owner("version")?.version).toBe("v1");
  expect(documents.converted().size).toBe(0);
});

test("documents are downloaded again each minute, and their parts stay the same objects while nothing changes", async () => {
  const answer = ({ target }: Asked) =>
    target === "/openapi/v3"
      ? { code: 200, body: indexOf("apis/a.example/v1") }
      : { code: 200, headers: { etag: '"1"' }, body: swaggerOf("/apis/a.example/v1/x") };
  const { backends, documents, advance } = await open(new FakeApis(servedApi("a.example/v1", "a")), answer);
  const [part, generation] = [documents.swaggers()[0], documents.generation()];
  backends.answer = (asked) => (asked.target === "/openapi/v3" ? answer(asked) : { code: 304 });
  await advance(60_000);
  expect(backends.asked.at(-1)?.headers["if-none-match"]).toBe('"1"');
  expect([documents.swaggers()[0], documents.generation()]).toEqual([part, generation]);
  expect(documents.swaggers()[0]).toBe(part as NonNullable<typeof part>);
  backends.answer = ({ target }) =>
    target === "/openapi/v3" ? { code: 500 } : { code: 200, body: swaggerOf("/apis/a.example/v1/new") };
  await advance(60_000);
  expect([...(documents.swaggers()[0]?.paths.keys() ?? [])]).toEqual(["/apis/a.example/v1/new"]);
  expect(documents.generation()).toBeGreaterThan(generation);
});

test("a document that was missing for a while is downloaded again, even if it is the same one", async () => {
  const answer = ({ target, headers }: Asked) => {
    if (target === "/openapi/v3") return { code: 404 };
    if (headers["if-none-match"] === '"1"') return { code: 304 };
    return { code: 200, headers: { etag: '"1"' }, body: swaggerOf("/apis/a.example/v1/x") };
  };
  const { backends, advance, pathsOf } = await open(new FakeApis(servedApi("a.example/v1", "a")), answer);
  backends.answer = ({ target }) => (target === "/openapi/v3" ? { code: 200, body: indexOf() } : { code: 404 });
  await advance(60_000);
  expect(pathsOf()).toEqual([]);
  backends.answer = answer;
  await advance(60_000);
  expect(pathsOf()).toEqual([["/apis/a.example/v1/x"]]);
});

test("documents of a server that dies stay until its APIService goes; it is asked less and less often", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"));
  const { backends, documents, advance, pathsOf } = await open(apis, ({ target }) =>
    target === "/openapi/v3"
      ? { code: 200, body: indexOf("apis/a.example/v1") }
      : { code: 200, body: swaggerOf("/apis/a.example/v1/x") },
  );
  backends.answer = () => ({ code: 503 });
  await advance(60_000);
  const before = backends.asked.length;
  await advance(3 * 3_600_000);
  expect(backends.asked.length - before).toBeLessThan(20);
  expect(pathsOf()).toEqual([["/apis/a.example/v1/x"]]);
  apis.set();
  expect([pathsOf(), documents.listed().size, documents.owner("apis/a.example/v1")]).toEqual([[], 0, undefined]);
});

test("a server without OpenAPI 3.0 documents gets one that is converted", async () => {
  const { documents } = await open(new FakeApis(servedApi("a.example/v1", "a")), ({ target }) =>
    target === "/openapi/v3" ? { code: 404 } : { code: 200, body: swaggerOf("/apis/a.example/v1/x") },
  );
  expect([...documents.converted().keys()]).toEqual(["apis/a.example/v1"]);
});

test("of two servers with the same document, the more important one has it", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"), servedApi("b.example/v1", "b"));
  const { documents } = await open(apis, ({ service, target }) =>
    target === "/openapi/v3" ? { code: 200, body: indexOf("version", `apis/${service}.example/v1`) } : { code: 404 },
  );
  expect(documents.owner("version")?.group).toBe("a.example");
  expect(documents.owner("apis/b.example/v1")?.group).toBe("b.example");
});

test.each([
  ["an index that is not an object", "[]"],
  ["an index with too many documents", JSON.stringify(indexOf(...Array.from({ length: 2_001 }, (_, at) => `k${at}`)))],
  ["an index without paths", "{}"],
])("%s is refused and harms nobody", async (_, body) => {
  const { documents } = await open(new FakeApis(servedApi("a.example/v1", "a")), () => ({ code: 200, body }));
  expect(documents.listed().size).toBe(0);
});

test("entries that lead elsewhere are dropped", async () => {
  const paths = {
    good: { serverRelativeURL: "/openapi/v3/good" },
    elsewhere: { serverRelativeURL: "https://example.com/openapi/v3/x" },
    other: { serverRelativeURL: "//example.com/openapi/v3/" },
    number: { serverRelativeURL: 7 },
    none: null,
  };
  const { documents } = await open(new FakeApis(servedApi("a.example/v1", "a")), () => ({
    code: 200,
    body: { paths },
  }));
  expect([...documents.listed().keys()]).toEqual(["good"]);
});

test("nothing is downloaded while an APIService is not available, and nothing after the end", async () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a", { isAvailable: false }));
  const { backends, running, clock, advance } = await open(apis, () => ({ code: 404 }));
  await advance(3_600_000);
  expect(backends.asked).toHaveLength(0);
  apis.set(servedApi("a.example/v1", "a"));
  await settled();
  expect(backends.asked).toHaveLength(2);
  running[Symbol.dispose]();
  await advance(3_600_000);
  expect([backends.asked.length, clock.timers]).toEqual([2, 0]);
});
