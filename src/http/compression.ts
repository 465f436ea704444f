import type { Gzip } from "node:zlib";
import { type Finish, headerValues, type IncomingRequest, type Reply } from "../request/exchange.ts";
import { SlabWriter } from "./slab-writer.ts";

/** Size up to which replies are not compressed. */
export const compressionBytesMin = 128 * 1024;
/**
 * Size up to which a reply is compressed on the main thread, in about a millisecond. Larger ones are compressed off it.
 */
const compressionBytesSync = 1024 * 1024;
const gzipLevel = 1;

/** Compresses finished replies above 128 KiB for clients that accept gzip. Streams are not compressed. */
export const compression: Finish = ({ request }, response) => {
  if (response.kind === "stream" || isSmall(response.body) || !acceptsGzip(request)) return response;
  return compressReply(response);
};

function isSmall(body: Reply["body"]): boolean {
  return body instanceof Uint8Array && body.byteLength <= compressionBytesMin;
}

/** Only the element `gzip` without a quality counts, as Go clients send it. */
function acceptsGzip(request: IncomingRequest): boolean {
  return headerValues(request, "accept-encoding").some((value) =>
    value.split(",").some((element) => element.trim() === "gzip"),
  );
}

async function compressReply(reply: Reply): Promise<Reply> {
  if (reply.headers.some(([name]) => name === "content-encoding")) return reply;
  const { body } = reply;
  if (body instanceof Uint8Array || Array.isArray(body)) {
    const chunks: readonly Uint8Array[] = body instanceof Uint8Array ? [body] : body;
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    if (bytes <= compressionBytesMin) return reply;
    return compressed(reply, bytes <= compressionBytesSync ? gzipAtOnce(chunks) : gzipInPieces([], chunks.values()));
  }
  const { head, rest, exhausted } = await readHead(body as AsyncIterable<Uint8Array> | Iterable<Uint8Array>);
  if (exhausted) return { ...reply, body: head };
  return compressed(reply, gzipInPieces(head, rest));
}

function compressed(reply: Reply, body: Reply["body"]): Reply {
  const headers = reply.headers.filter(([name]) => name !== "content-length");
  return {
    kind: "reply",
    code: reply.code,
    headers: [...headers, ["content-encoding", "gzip"], ["vary", "Accept-Encoding"]],
    body,
  };
}

function gzipAtOnce(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  return Bun.gzipSync(whole as Uint8Array<ArrayBuffer>, { level: gzipLevel });
}

/** Compresses what was read of a body, and then the rest of it at the pace of the reader. */
async function* gzipInPieces(head: readonly Uint8Array[], rest: ChunkIterator): AsyncGenerator<Uint8Array> {
  const { createGzip } = await import("node:zlib");
  const gzip = createGzip({ level: gzipLevel, chunkSize: 64 * 1024 });
  feed(gzip, head, rest).then(
    () => gzip.end(),
    (error) => gzip.destroy(error),
  );
  try {
    yield* gzip as AsyncIterable<Uint8Array>;
  } finally {
    gzip.destroy();
    await rest.return?.();
  }
}

/** Feeds the compressor. Stays pending if the compressor is destroyed meanwhile. */
async function feed(gzip: Gzip, head: readonly Uint8Array[], rest: ChunkIterator): Promise<void> {
  const writer = new SlabWriter((bytes) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    gzip.write(bytes, (error) => (error ? reject(error) : resolve()));
    return promise;
  });
  await writer.addAll(head);
  for (;;) {
    const following = rest.next();
    const next = following instanceof Promise ? await following : following;
    if (next.done === true) return writer.end();
    const added = writer.add(next.value);
    if (added !== undefined) await added;
  }
}

type ChunkIterator = AsyncIterator<Uint8Array> | Iterator<Uint8Array>;

/** Reads until the threshold is passed. `exhausted` is true if the body ends first. */
async function readHead(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  const rest: ChunkIterator = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  const head: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= compressionBytesMin) {
    const next = await rest.next();
    if (next.done === true) return { head, rest, exhausted: true };
    head.push(next.value);
    bytes += next.value.byteLength;
  }
  return { head, rest, exhausted: false };
}
