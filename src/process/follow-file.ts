import { type FSWatcher, readFileSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Clock } from "./clock.ts";

/** The quiet time before a changed file is read. Editors write a file in several steps. */
const settleMs = 100;

export interface FollowedFile {
  readonly file: string;
  /** The content to compare the first read with. */
  readonly bytes: Uint8Array;
  readonly clock: Clock;
  /** The interval of rereading, in case the file system sends no notification. */
  readonly intervalMs: number;
  /** Called with new content. If it throws, the same content is not tried again. */
  onChange(bytes: Uint8Array): void;
  onError(error: unknown): void;
}

/** Reports every new content of a file. Watches the folder, because files are usually replaced, not rewritten. */
export function followFile({ file, bytes, clock, intervalMs, onChange, onError }: FollowedFile): Disposable {
  let known = Buffer.from(bytes);
  let settling: Disposable | undefined;
  const read = () => {
    try {
      const now = readFileSync(file);
      if (now.equals(known)) return;
      known = now;
      onChange(now);
    } catch (error) {
      onError(error);
    }
  };
  const timer = clock.every(intervalMs, read);
  const watcher = watchFolder(file, () => {
    settling?.[Symbol.dispose]();
    settling = clock.after(settleMs, read);
  });
  return {
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      settling?.[Symbol.dispose]();
      watcher?.close();
    },
  };
}

/**
 * Returns undefined where folders cannot be watched. Changes of other names count too if the file may be a link that was
 * swapped.
 */
function watchFolder(file: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(file) || name.startsWith("..")) onChange();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
