import { type FSWatcher, readFileSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Clock } from "./clock.ts";

/** Editors write a file in several steps: it is read when it has been left alone for so long. */
const settleMs = 100;

export interface FollowedFile {
  readonly file: string;
  /** The content at the last read. */
  readonly bytes: Uint8Array;
  readonly clock: Clock;
  /** It is read again so often, whether or not the file system tells of a change. */
  readonly intervalMs: number;
  /** May throw; then the same content is not tried again. */
  onChange(bytes: Uint8Array): void;
  onError(error: unknown): void;
}

/** Tells of every new content of a file. Its folder is watched, as files are replaced rather than written to. */
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

/** Undefined where folders cannot be watched. Links are swapped under other names, so any change may be one of the file. */
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
