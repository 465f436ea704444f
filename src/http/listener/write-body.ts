import type { Writable } from "node:stream";
import { nextTurn } from "../../process/turn.ts";
import { ClientGoneError } from "../../request/client-gone.ts";
import type { Reply } from "../../request/exchange.ts";
import { SlabWriter } from "../slab-writer.ts";

/** Size from which a piece gets a turn of its own. */
const turnBytesMin = 64 * 1024;

/**
 * Writes the body in order, each large piece after the first in a turn of the event loop of its own: encrypting it takes
 * time, and a connection may accept a long body without a pause. The first piece goes with the head, because Bun may
 * hold it back for ever if it comes later and another stream of the connection is not read. Waits if the client is slow;
 * rejects if the client has disconnected or stalls.
 */
export async function writeBody(target: Writable, body: Reply["body"], stallTimeoutMs: number): Promise<void> {
  let hasBegun = false;
  const writer = new SlabWriter(async (bytes, isReused) => {
    if (hasBegun && bytes.byteLength >= turnBytesMin) await nextTurn();
    hasBegun = true;
    if (target.destroyed) throw new ClientGoneError();
    const { promise: written, resolve, reject } = Promise.withResolvers<void>();
    const hasRoom = target.write(bytes, (error) => (error ? reject(new ClientGoneError()) : resolve()));
    if (!hasRoom || isReused) return within(written, target, stallTimeoutMs);
    written.catch(ignore);
  });
  await writer.addAll(body instanceof Uint8Array ? [body] : (body as Iterable<Uint8Array> | AsyncIterable<Uint8Array>));
  await writer.end();
}

function ignore(): void {}

/** Resolves when the bytes are written. Rejects if the target closes or accepts nothing for too long. */
function within(written: Promise<void>, target: Writable, stallTimeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new ClientGoneError());
  const timer = setTimeout(() => reject(new ClientGoneError("the client does not read its response")), stallTimeoutMs);
  written.then(resolve, reject);
  target.once("close", onClose);
  if (target.destroyed) onClose();
  return promise.finally(() => {
    clearTimeout(timer);
    target.off("close", onClose);
  });
}
