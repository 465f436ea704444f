import type { Writable } from "node:stream";
import { nextTurn } from "../../api/turn.ts";
import { ClientGoneError } from "../../request/client-gone.ts";
import type { Reply } from "../../request/exchange.ts";

/** Size up to which small chunks are joined, because every write costs a TLS record and a system call. */
const slabBytesMax = 256 * 1024;
/** Size from which chunks are written unchanged. */
const largeChunkBytes = 64 * 1024;

/**
 * Writes the body in order, each large piece after the first in a turn of the event loop of its own: encrypting it takes
 * time, and a connection may accept a long body without a pause. The first piece goes with the head, because Bun may
 * hold it back for ever if it comes later and another stream of the connection is not read. Waits if the client is slow;
 * rejects if the client has disconnected or stalls.
 */
export async function writeBody(target: Writable, body: Reply["body"], stallTimeoutMs: number): Promise<void> {
  const chunks = body instanceof Uint8Array ? [body] : (body as Iterable<Uint8Array> | AsyncIterable<Uint8Array>);
  let slab: Uint8Array[] = [];
  let slabBytes = 0;
  let hasBegun = false;
  const write = async (bytes: Uint8Array) => {
    if (hasBegun && bytes.byteLength >= largeChunkBytes) await nextTurn();
    hasBegun = true;
    if (target.destroyed) throw new ClientGoneError();
    if (!target.write(bytes)) await waitForDrain(target, stallTimeoutMs);
  };
  const flush = async () => {
    if (slabBytes === 0) return;
    const bytes = slab.length === 1 ? (slab[0] as Uint8Array) : Buffer.concat(slab, slabBytes);
    slab = [];
    slabBytes = 0;
    await write(bytes);
  };
  const add = async (chunk: Uint8Array) => {
    if (slabBytes + chunk.byteLength > slabBytesMax || chunk.byteLength >= largeChunkBytes) await flush();
    if (chunk.byteLength >= largeChunkBytes) return write(chunk);
    slab.push(chunk);
    slabBytes += chunk.byteLength;
  };
  if (Symbol.asyncIterator in chunks) for await (const chunk of chunks) await add(chunk);
  else {
    for (const chunk of chunks) {
      const isLarge = chunk.byteLength >= largeChunkBytes || slabBytes + chunk.byteLength > slabBytesMax;
      if (isLarge) await add(chunk);
      else {
        slab.push(chunk);
        slabBytes += chunk.byteLength;
      }
    }
  }
  await flush();
}

/** Resolves when the backlog is written. Rejects if the target closes or accepts nothing for too long. */
function waitForDrain(target: Writable, stallTimeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new ClientGoneError());
  const timer = setTimeout(() => reject(new ClientGoneError("the client does not read its response")), stallTimeoutMs);
  target.once("drain", resolve);
  target.once("close", onClose);
  if (target.destroyed) onClose();
  return promise.finally(() => {
    clearTimeout(timer);
    target.off("drain", resolve);
    target.off("close", onClose);
  });
}
