import { expect, test } from "bun:test";
import http2 from "node:http2";
import { request as requestHttp1 } from "node:https";
import { type Readable, Writable } from "node:stream";
import { listen } from "../listener.ts";
import { createAuthority } from "./testing.ts";
import { writeBody } from "./write-body.ts";

const stallMs = 30_000;

/** Returns chunks of all sizes that matter here, 3 MB in all, each with bytes of its own. */
function chunksOf(seed: number): Buffer[] {
  const sizes = [7, 1, 900, 60_000, 64 * 1024, 12_345, 300_000, 2, 65_535, 65_536];
  return Array.from({ length: 50 }, (_, at) => {
    const chunk = Buffer.alloc(sizes[(at * 7 + seed) % sizes.length] as number);
    for (let byte = 0; byte < chunk.length; byte++) chunk[byte] = (byte * 31 + at * 17 + seed) & 0xff;
    return chunk;
  });
}

/** A target that looks at its chunks only when it is done with them. */
class LateTarget extends Writable {
  readonly sizes: number[] = [];
  readonly seen: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    setTimeout(() => {
      this.sizes.push(chunk.byteLength);
      this.seen.push(Buffer.from(chunk));
      done();
    }, 1);
  }
}

async function* slowly(chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    await Bun.sleep(0);
    yield chunk;
  }
}

test.each([
  ["an iterable", (chunks: Buffer[]) => chunks],
  ["an asynchronous iterable", slowly],
])("the bytes of %s stay as they are until they are written, and small ones are joined", async (_name, bodyOf) => {
  const chunks = chunksOf(1);
  const target = new LateTarget();
  await writeBody(target, bodyOf(chunks), stallMs);
  expect(Buffer.concat(target.seen).equals(Buffer.concat(chunks))).toBe(true);
  expect(Math.max(...target.sizes)).toBeLessThanOrEqual(300_000);
  expect(target.sizes.length).toBeLessThan(chunks.length);
});

test("the next chunk of a body is only asked for when the client has taken the ones before", async () => {
  let asked = 0;
  const target = new Writable({ write: () => {} });
  const endless = (function* () {
    for (;;) {
      asked++;
      yield Buffer.alloc(32 * 1024);
    }
  })();
  const writing = writeBody(target, endless, stallMs);
  await Bun.sleep(20);
  expect(asked).toBe(9);
  target.destroy();
  await expect(writing).rejects.toThrow("the client is gone");
});

/** Reads a body with pauses, and compares it with the chunks. */
async function readsSlowly(body: Readable, chunks: readonly Buffer[]): Promise<boolean> {
  const parts: Buffer[] = [];
  for await (const part of body) {
    parts.push(part as Buffer);
    if (parts.length % 20 === 0) await Bun.sleep(1);
  }
  return Buffer.concat(parts).equals(Buffer.concat(chunks));
}

test("slow readers of both protocols receive the bytes, however long the connection holds them", async () => {
  const authority = await createAuthority("CN=ca");
  const certificate = await authority.issue("CN=server", { usage: "server" });
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    tls: { ...certificate, ca: [authority.cert] },
    handle: ({ rawPath }) => ({
      kind: "reply",
      code: 200,
      headers: [],
      body: chunksOf(Number(rawPath.slice(1))).values(),
    }),
  });
  const origin = `https://127.0.0.1:${listener.port}`;
  const overHttp1 = async (seed: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<Readable>();
    requestHttp1(`${origin}/${seed}`, { ca: authority.cert, agent: false }, resolve).on("error", reject).end();
    return readsSlowly(await promise, chunksOf(seed));
  };
  const session = http2.connect(origin, { ca: authority.cert, settings: { initialWindowSize: 100_000 } });
  const overHttp2 = (seed: number) => readsSlowly(session.request({ ":path": `/${seed}` }), chunksOf(seed));
  const all = Array.from({ length: 4 }, (_, seed) => [overHttp1(seed), overHttp2(seed)]).flat();
  expect(await Promise.all(all)).toEqual(all.map(() => true));
  session.destroy();
  await listener.close(0);
});
