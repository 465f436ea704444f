import { expect, test } from "bun:test";
import type { Entry } from "../entry.ts";
import { apiVersionOf } from "../gvk.ts";
import type { KubeObject } from "../object-meta.ts";
import type { ResourceInfo, VersionConverter } from "../scheme/resource.ts";
import { toBytes } from "./byte-text.ts";
import { ConvertedEntries, chunkObjectsMax } from "./converted-entries.ts";
import { EntryCache } from "./entry-cache.ts";

const to = { group: "example.com", version: "v2", kind: "Widget" } as ResourceInfo;

function entriesOf(count: number, body = (name: string) => `{"metadata":{"name":"${name}"}}`): Entry[] {
  return Array.from({ length: count }, (_, at) => {
    const index = { apiVersion: "example.com/v1", kind: "Widget" };
    return {
      key: `/registry/widgets/w${at}`,
      revision: at + 1,
      index,
      body: toBytes(body(`w${at}`)),
    } as unknown as Entry;
  });
}

/** A converter whose calls end when the test says so, or when their signal aborts. */
function setUp() {
  const calls: { objects: readonly KubeObject[]; signal: AbortSignal | undefined; end: () => void }[] = [];
  const converter: VersionConverter = {
    servesBody: ({ index }, { group, version }) => index.apiVersion === apiVersionOf({ group, version }),
    convertsAtOnce: () => false,
    convert(objects, _, signalOf) {
      const signal = signalOf?.();
      const { promise, resolve, reject } = Promise.withResolvers<readonly KubeObject[]>();
      signal?.addEventListener("abort", () => reject(new Error("canceled")));
      calls.push({ objects, signal, end: () => resolve(objects) });
      return promise;
    },
    forStorage: (object) => object,
  };
  return { calls, converter, converted: new ConvertedEntries(converter, new EntryCache(1_000)) };
}

test("no chunk follows once the caller has gone, and the running one is given up", async () => {
  const { calls, converted } = setUp();
  const client = new AbortController();
  const result = Promise.resolve(converted.convert(entriesOf(chunkObjectsMax + 1), to, () => client.signal));
  client.abort();
  expect(result).rejects.toMatchObject({ code: 504 });
  await result.catch(() => undefined);
  await Bun.sleep(0);
  expect(calls.map(({ objects, signal }) => [objects.length, signal?.aborted])).toEqual([[chunkObjectsMax, true]]);
});

test("a conversion continues while another caller waits for it", async () => {
  const { calls, converted } = setUp();
  const entries = entriesOf(2);
  const client = new AbortController();
  const first = Promise.resolve(converted.convert(entries, to, () => client.signal));
  const second = Promise.resolve(converted.convert(entries, to));
  client.abort();
  expect(first).rejects.toMatchObject({ code: 504 });
  calls[0]?.end();
  expect((await second).map(({ index }) => index.apiVersion)).toEqual(["example.com/v2", "example.com/v2"]);
  expect(calls.length).toBe(1);
});

test("a caller that comes after a conversion was given up starts another one", async () => {
  const { calls, converted } = setUp();
  const entries = entriesOf(1);
  const client = new AbortController();
  const first = Promise.resolve(converted.convert(entries, to, () => client.signal));
  client.abort();
  const second = Promise.resolve(converted.convert(entries, to));
  await first.catch(() => undefined);
  calls[1]?.end();
  expect(await second).toHaveLength(1);
});

test("an entry that cannot be read fails its caller, and leaves no rejection of others behind", async () => {
  const { calls, converted } = setUp();
  const [good, bad] = [entriesOf(1), entriesOf(2, () => "{")[1] as Entry];
  const client = new AbortController();
  const first = Promise.resolve(converted.convert(good, to, () => client.signal));
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  try {
    expect(() => converted.convert([...good, bad], to)).toThrow();
    client.abort();
    await first.catch(() => undefined);
    await Bun.sleep(1);
    expect([calls.length, unhandled]).toEqual([1, []]);
  } finally {
    process.off("unhandledRejection", note);
  }
});

test("converters share one cache, and never each other's entries", async () => {
  const cache = new EntryCache(1_000);
  const named = (name: string): VersionConverter => ({
    servesBody: () => false,
    convertsAtOnce: () => true,
    convert: (objects) => objects.map((object) => ({ ...object, spec: name }) as unknown as KubeObject),
    forStorage: (object) => object,
  });
  const bodies = ["a", "b"].map((name) => {
    const [entry] = new ConvertedEntries(named(name), cache).convert(entriesOf(1), to) as Entry[];
    return JSON.parse(Buffer.from(entry?.body ?? []).toString()).spec;
  });
  expect(bodies).toEqual(["a", "b"]);
  for (let at = 0; at < 50; at++) await new ConvertedEntries(named(`c${at}`), cache).convert(entriesOf(1), to);
  expect(cache.bytes).toBeLessThanOrEqual(1_000);
});
