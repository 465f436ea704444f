/** What the caches report; every member is optional, so that a test passes nothing. */
export interface CacherMetrics {
  /** A watch started (+1) or ended (-1). */
  watchers?(prefix: string, change: 1 | -1): void;
  /** So many events, in so many bytes, were handed to a watcher's connection at once. */
  sent?(prefix: string, events: number, bytes: number): void;
  /** A list or a watch needed the store's history. */
  historyRead?(prefix: string, kind: "list" | "watch"): void;
  /** A watch ended with 410 because its place in the history is gone. */
  expired?(prefix: string): void;
}
