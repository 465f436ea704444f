import type { Clock } from "../../process/clock.ts";

/**
 * Interval of the checks. Certificates are replaced at least minutes before they expire, and reading a few small files is
 * cheap.
 */
export const fileCheckIntervalMs = 5_000;

export interface ChangedFilesOptions {
  readonly clock: Clock;
  /** Returns the contents of the files as one text. */
  read(): string;
  /** Contents of the files when they were last used. */
  readonly current: string;
  /** Called after a change. Throws if the files are unusable, such as between the writes of a pair's two files. */
  onChanged(): void;
  /** Receives the error of unusable files, once for each content. They are checked again until they change. */
  onError(error: unknown): void;
}

/** Polls files, because mounted volumes and swapped links cause no notifications. Unusable files change nothing. */
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
