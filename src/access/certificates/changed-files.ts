import type { Clock } from "../../process/clock.ts";

/** Certificates are replaced minutes before they end at least; a look at a few small files costs nothing. */
export const fileCheckIntervalMs = 5_000;

export interface ChangedFilesOptions {
  readonly clock: Clock;
  /** What is in the files now, as one text that differs whenever they do. */
  read(): string;
  /** What the files held when they were last used. */
  readonly current: string;
  /** Called with files that changed. Throws while they cannot be used, such as between the two files of a pair. */
  onChanged(): void;
  /** Files that cannot be read or used: once for each content, and looked at again until they change. */
  onError(error: unknown): void;
}

/**
 * Looks at files again and again instead of waiting for notifications, which do not come for mounted volumes and
 * swapped links. What cannot be used changes nothing: the server goes on with what it has.
 */
export function watchFiles({ clock, read, current, onChanged, onError }: ChangedFilesOptions): Disposable {
  let used = current;
  let failed: string | undefined;
  return clock.every(fileCheckIntervalMs, () => {
    let found: string | undefined;
    try {
      found = read();
      if (found === used) return;
      onChanged();
      used = found;
      failed = undefined;
    } catch (error) {
      const problem = found ?? String(error);
      if (problem !== failed) onError(error);
      failed = problem;
    }
  });
}
