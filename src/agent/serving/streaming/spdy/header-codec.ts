import { constants, createDeflate, createInflate, type Deflate, type Inflate } from "node:zlib";
import { headerDictionary } from "./header-dictionary.ts";

/** Headers of a stream by their names in lower case. */
export type Headers = ReadonlyMap<string, string>;

/** Size of the headers of one frame. Above this, the connection ends. */
export const headerBytesMax = 64 * 1024;
const flush = constants.Z_SYNC_FLUSH;

/**
 * Compresses and decompresses the headers of one connection. Each block depends on those before it, so blocks have to be
 * passed in the order of their frames, one at a time.
 */
export class HeaderCodec implements Disposable {
  readonly #inflate: Inflate = createInflate({ dictionary: headerDictionary, flush, finishFlush: flush });
  readonly #deflate: Deflate = createDeflate({ dictionary: headerDictionary, flush });

  constructor() {
    // An error also rejects the call that causes it.
    this.#inflate.on("error", ignore);
    this.#deflate.on("error", ignore);
  }

  /** @throws Error for a block that is malformed or too long, after which the codec cannot be used */
  async decode(block: Uint8Array): Promise<Headers> {
    return parseHeaders(await through(this.#inflate, block));
  }

  encode(headers: Headers): Promise<Buffer> {
    const parts: Buffer[] = [uint32(headers.size)];
    for (const entry of headers) {
      for (const text of entry) {
        const bytes = Buffer.from(text);
        parts.push(uint32(bytes.byteLength), bytes);
      }
    }
    return through(this.#deflate, Buffer.concat(parts));
  }

  [Symbol.dispose](): void {
    this.#inflate.destroy();
    this.#deflate.destroy();
  }
}

function ignore(): void {}

function through(coder: Inflate | Deflate, block: Uint8Array): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const onData = (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes <= headerBytesMax) {
      chunks.push(chunk);
      return;
    }
    // The call back of the write does not tell.
    const error = new Error("the headers are too long");
    reject(error);
    coder.destroy(error);
  };
  coder.on("data", onData);
  coder.once("error", reject);
  coder.write(block, (error) => {
    coder.off("data", onData);
    coder.off("error", reject);
    if (error) reject(error);
    else resolve(Buffer.concat(chunks));
  });
  return promise;
}

function parseHeaders(block: Buffer): Headers {
  let at = 0;
  const readLength = () => {
    if (at + 4 > block.byteLength) throw new Error("the headers are cut off");
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const readText = () => {
    const length = readLength();
    if (at + length > block.byteLength) throw new Error("the headers are cut off");
    at += length;
    return block.toString("utf8", at - length, at);
  };
  const headers = new Map<string, string>();
  for (let left = readLength(); left > 0; left--) {
    const name = readText().toLowerCase();
    const value = readText();
    if (headers.has(name)) throw new Error("a header occurs twice");
    headers.set(name, value);
  }
  return headers;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
