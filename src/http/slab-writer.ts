import type { Eventual } from "../process/eventual.ts";
import { TurnSlice } from "../process/turn-slice.ts";

/** Size up to which small chunks are joined, because each write has a price of its own. */
const slabBytesMax = 256 * 1024;
/** Size from which chunks are written unchanged. */
const largeChunkBytes = 64 * 1024;

/** Bytes of chunks after which the clock is read, because making them can take long. */
const checkedBytes = 16 * 1024;

/**
 * Writes bytes, and resolves when more may be written.
 * @param isReused the bytes change afterwards, so nothing may hold on to them
 */
type Write = (bytes: Uint8Array, isReused: boolean) => Promise<void>;

/** Writes the chunks of a body in order, the small ones joined. */
export class SlabWriter {
  readonly #write: Write;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /**
   * The joined chunks of a long body, filled again after each write. A new array for each would become garbage faster
   * than it is collected when many clients list at once.
   */
  #slab: Buffer | undefined;

  constructor(write: Write) {
    this.#write = write;
  }

  add(chunk: Uint8Array): Eventual<void> {
    if (chunk.byteLength >= largeChunkBytes) return this.end().then(() => this.#write(chunk, false));
    if (this.#bytes + chunk.byteLength > slabBytesMax) return this.#writeSlab().then(() => this.add(chunk));
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
  }

  async addAll(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    if (Symbol.asyncIterator in chunks) {
      for await (const chunk of chunks) await this.add(chunk);
      return;
    }
    let slice = new TurnSlice();
    let uncheckedBytes = 0;
    for (const chunk of chunks) {
      const added = this.add(chunk);
      uncheckedBytes += chunk.byteLength;
      if (added !== undefined) {
        await added;
        slice = new TurnSlice();
      } else if (uncheckedBytes >= checkedBytes) {
        uncheckedBytes = 0;
        const passed = slice.pass();
        if (passed === undefined) continue;
        // The chunks so far go first, so that the reader need not wait for the others.
        await this.end();
        await passed;
      }
    }
  }

  /** Writes the chunks that are left. */
  async end(): Promise<void> {
    if (this.#bytes === 0) return;
    const [only] = this.#chunks;
    const bytes = this.#chunks.length === 1 ? (only as Uint8Array) : Buffer.concat(this.#chunks, this.#bytes);
    this.#forget();
    await this.#write(bytes, false);
  }

  async #writeSlab(): Promise<void> {
    this.#slab ??= Buffer.allocUnsafeSlow(slabBytesMax);
    let at = 0;
    for (const chunk of this.#chunks) {
      this.#slab.set(chunk, at);
      at += chunk.byteLength;
    }
    this.#forget();
    await this.#write(this.#slab.subarray(0, at), true);
  }

  #forget(): void {
    this.#chunks = [];
    this.#bytes = 0;
  }
}
