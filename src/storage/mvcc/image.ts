import { crc32 } from "node:zlib";
import type { Database, DatabaseOperation } from "./database.ts";
import { everyRecord } from "./layout.ts";
import { verifyRecord } from "./record.ts";
import { readRecord, type StateRecord } from "./state-record.ts";

/**
 * A state as a stream of bytes, for another replica or a file:
 *
 *     magic · length of header · header (JSON)
 *     each record of the database: length of key · length of value · key · value
 *     end mark · number of records · crc32 of everything before the mark
 *
 * Every value also carries a checksum bound to its key, which the reader checks.
 */
const magic = Buffer.from("QRTIMG01");
const endMark = 0xffffffff;
const chunkBytes = 256 * 1024;
const readBatchRecords = 500;
const readBatchBytes = 1024 * 1024;
const headerBytesMax = 16 * 1024 * 1024;
const keyBytesMax = 16 * 1024;
const valueBytesMax = 64 * 1024 * 1024;

export interface ImageHeader {
  readonly clusterId: string;
  readonly record: StateRecord;
}

/** The bytes are not a complete, undamaged image. The message is for people. */
export class ImageError extends Error {
  override readonly name = "ImageError";
}

export interface OpenImage {
  readonly header: ImageHeader;
  readonly chunks: AsyncIterable<Uint8Array>;
  release(): void;
}

/** Opens an image of the current database. It pins that state until it is released. */
export async function openImage(database: Database, clusterId: string): Promise<OpenImage> {
  const snapshot = database.snapshot();
  let released = false;
  const release = (): void => {
    if (released) return;
    released = true;
    void snapshot.close();
  };
  try {
    const record = await readRecord(database, snapshot);
    if (record === undefined) throw new ImageError("there is no state to make an image of");
    const header = { clusterId, record };
    return { header, chunks: imageChunks(database, snapshot, header), release };
  } catch (error) {
    release();
    throw error;
  }
}

async function* imageChunks(
  database: Database,
  snapshot: ReturnType<Database["snapshot"]>,
  header: ImageHeader,
): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(JSON.stringify(header));
  let parts: Uint8Array[] = [magic, uint32(text.length), text];
  let bytes = text.length;
  let sum = 0;
  let count = 0;
  const take = (): Buffer => {
    const chunk = Buffer.concat(parts);
    sum = crc32(chunk, sum);
    parts = [];
    bytes = 0;
    return chunk;
  };
  const iterator = database.iterator({
    ...everyRecord,
    snapshot,
    fillCache: false,
    highWaterMarkBytes: readBatchBytes,
  });
  try {
    for (;;) {
      const batch = await iterator.nextv(readBatchRecords);
      if (batch.length === 0) break;
      for (const [key, value] of batch) {
        const name = Buffer.from(key);
        parts.push(uint32(name.length), uint32(value.length), name, value);
        bytes += name.length + value.length;
        count++;
        if (bytes >= chunkBytes) yield take();
      }
    }
  } finally {
    await iterator.close();
  }
  yield take();
  yield Buffer.concat([uint32(endMark), uint32(Math.floor(count / 2 ** 32)), uint32(count % 2 ** 32), uint32(sum)]);
}

/**
 * Reads an image to its end.
 * @param write stores some records; they are valid only once `readImage` has returned
 * @throws ImageError if the image is incomplete or damaged, or has bytes after its end
 */
export async function readImage(
  chunks: AsyncIterable<Uint8Array>,
  write: (records: DatabaseOperation[]) => Promise<void>,
): Promise<ImageHeader> {
  const reader = new ImageReader(chunks);
  if (!(await reader.read(magic.length)).equals(magic)) throw new ImageError("it is not a snapshot");
  const header = parseHeader(await reader.read(await reader.length(headerBytesMax, "header")));
  let records: DatabaseOperation[] = [];
  let bytes = 0;
  let count = 0;
  for (;;) {
    const sum = reader.sum;
    const keyBytes = (await reader.read(4)).readUInt32BE();
    if (keyBytes === endMark) {
      await checkEnd(reader, count, sum);
      break;
    }
    if (keyBytes > keyBytesMax) throw new ImageError(`a key of ${keyBytes} bytes is too long`);
    const valueBytes = await reader.length(valueBytesMax, "value");
    const key = (await reader.read(keyBytes)).toString();
    const value = await reader.read(valueBytes);
    verify(key, value);
    records.push({ type: "put", key, value });
    bytes += keyBytes + valueBytes;
    count++;
    if (bytes < readBatchBytes) continue;
    await write(records);
    records = [];
    bytes = 0;
  }
  if (records.length > 0) await write(records);
  return header;
}

function verify(key: string, value: Buffer): void {
  try {
    verifyRecord(key, value);
  } catch (error) {
    throw new ImageError(`its record ${JSON.stringify(key)} is damaged: ${(error as Error).message}`);
  }
}

async function checkEnd(reader: ImageReader, count: number, sum: number): Promise<void> {
  const end = await reader.read(12);
  const expected = end.readUInt32BE(0) * 2 ** 32 + end.readUInt32BE(4);
  if (expected !== count) throw new ImageError(`it should hold ${expected} records and holds ${count}`);
  if (end.readUInt32BE(8) !== sum) throw new ImageError("its checksum does not match");
  if (!(await reader.isAtEnd())) throw new ImageError("data follows its end");
}

function parseHeader(bytes: Buffer): ImageHeader {
  try {
    const header = JSON.parse(bytes.toString()) as ImageHeader;
    if (typeof header.clusterId === "string" && typeof header.record?.revision === "number") return header;
  } catch {
    // The error below reports it.
  }
  throw new ImageError("its header is damaged");
}

/** Reads pieces of any size from chunks of any size. */
class ImageReader {
  /** Checksum of everything read so far. */
  sum = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns a copy of the next bytes. @throws ImageError if the stream ends first */
  async read(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let missing = bytes;
    while (missing > 0) {
      if (this.#held.length === 0 && !(await this.#fetch())) throw new ImageError("it ends too early");
      const part = this.#held.subarray(0, missing);
      this.#held = this.#held.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    const piece = Buffer.concat(parts, bytes);
    this.sum = crc32(piece, this.sum);
    return piece;
  }

  async length(most: number, what: string): Promise<number> {
    const bytes = (await this.read(4)).readUInt32BE();
    if (bytes > most) throw new ImageError(`a ${what} of ${bytes} bytes is too long`);
    return bytes;
  }

  async isAtEnd(): Promise<boolean> {
    return this.#held.length === 0 && !(await this.#fetch());
  }

  async #fetch(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#held = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return true;
    }
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
