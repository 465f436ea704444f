import type { Terminal } from "../terminal.ts";
import { progressOf } from "./migrated-objects.ts";

/** Writes that run at the same time. */
const writersMax = 50;

/**
 * Makes writes to etcd, several at a time, and prints how many are done.
 * @param what such as `objects copied`
 * @param write makes the write with a number, counted from 0
 */
export async function writeAll(
  what: string,
  count: number,
  write: (at: number) => Promise<void>,
  terminal: Terminal,
): Promise<void> {
  const onProgress = progressOf(what, count, terminal);
  let next = 0;
  let done = 0;
  const writer = async () => {
    for (let at = next++; at < count; at = next++) {
      await write(at);
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: writersMax }, writer));
}
