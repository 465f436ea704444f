/** Measurements of the caches. Every member is optional, so tests need not supply any. */
export interface CacherMetrics {
  /** Records that a watch started (+1) or ended (-1). */
  watchers?(prefix: string, change: 1 | -1): void;
  /** Records the events and bytes handed to a watcher's connection at once. */
  sent?(prefix: string, events: number, bytes: number): void;
  /** Records a list or a watch that needed the store's history. */
  historyRead?(prefix: string, kind: "list" | "watch"): void;
  /** Records a watch that ended with 410 because its position in the history is gone. */
  expired?(prefix: string): void;
}
