import { describe, expect, test } from "bun:test";
import type { Exchange, HeaderList, HttpResponse, Reply } from "../request/exchange.ts";
import { compression, compressionBytesMin } from "./compression.ts";

const chunk = new TextEncoder().encode("0123456789abcdef".repeat(1024));
const many = (count: number) => Array.from({ length: count }, () => chunk);

async function* lazily(chunks: Iterable<Uint8Array>) {
  yield* chunks;
}

async function send(body: Reply["body"], acceptEncoding: string, headers: HeaderList = [["content-length", "1"]]) {
  const exchange = { request: { headers: [["accept-encoding", acceptEncoding]] } } as unknown as Exchange;
  const response = await compression(exchange, { kind: "reply", code: 200, headers, body });
  const parts: Uint8Array[] = [];
  if (response.kind === "reply") {
    if (response.body instanceof Uint8Array) parts.push(response.body);
    else for await (const part of response.body as AsyncIterable<Uint8Array>) parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  const gzipped = response.headers.some(([name, value]) => name === "content-encoding" && value === "gzip");
  return { response, gzipped, plain: gzipped ? Buffer.from(Bun.gunzipSync(bytes)) : bytes };
}

const large = compressionBytesMin / chunk.byteLength + 1;

describe("compression", () => {
  test.each<[string, () => Reply["body"], number]>([
    ["one buffer", () => Buffer.concat(many(large)), large],
    ["an array", () => many(large), large],
    ["an array beyond the synchronous limit", () => many(200), 200],
    ["an iterable", () => new Set(many(large).map((part) => part.slice())), large],
    ["an async iterable", () => lazily(many(200)), 200],
  ])("%s above the threshold is gzipped and comes out whole", async (_name, body, count) => {
    const { response, gzipped, plain } = await send(body(), "deflate, gzip");
    expect(gzipped).toBe(true);
    expect(plain.equals(Buffer.concat(many(count)))).toBe(true);
    expect(response.headers).toEqual([
      ["content-encoding", "gzip"],
      ["vary", "Accept-Encoding"],
    ]);
  });

  test.each<[string, Reply["body"], string]>([
    ["a body at the threshold", many(large - 1), "gzip"],
    ["a lazy body below the threshold", lazily(many(2)), "gzip"],
    ["a client with a quality", many(large), "gzip;q=1.0"],
    ["a client without gzip", many(large), "br, *"],
  ])("%s is sent unchanged", async (_name, body, acceptEncoding) => {
    const { response, gzipped } = await send(body, acceptEncoding);
    expect(gzipped).toBe(false);
    expect(response.headers).toEqual([["content-length", "1"]]);
  });

  test("streams are left alone", async () => {
    const stream: HttpResponse = { kind: "stream", code: 200, headers: [], run: async () => {} };
    const exchange = { request: { headers: [["accept-encoding", "gzip"]] } } as unknown as Exchange;
    expect(await compression(exchange, stream)).toBe(stream);
  });

  test("a body that fails half-way fails the reply", async () => {
    async function* failing() {
      yield* many(large);
      throw new Error("disk");
    }
    expect(send(failing(), "gzip")).rejects.toThrow("disk");
  });
});
