/** Measurements of the caches. Every member is optional, so that tests can omit them. */
export interface CacherMetrics {
  /** Records that a watch started (+1) or ended (-1). */
  watchers?(prefix: string, change: 1 | -1): void;
  /** Records the events and bytes written to a watcher's connection at once. */
  sent?(prefix: string, events: number, bytes: number): void;
  /** Records a list or a watch that needed the store's history. */
  historyRead?(prefix: string, kind: "list" | "watch"): void;
  /** Records the time that a list waited for the cache to be fresh enough. */
  waited?(prefix: string, seconds: number): void;
}
