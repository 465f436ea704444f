/** Limits of one resource's cache. Each comment states the behaviour at the limit. */
export interface CacherLimits {
  /** Events kept in memory. Older ones are read from the store. */
  readonly windowEventsMax: number;
  /** Total body bytes of the kept events. Older events are dropped. */
  readonly windowBytesMax: number;
  /** Age at which events are dropped, except for the newest `windowEventsMin`. */
  readonly windowAgeMs: number;
  /** Number of newest events that stay at any age. */
  readonly windowEventsMin: number;
  /** Bytes of encoded frames kept for sharing. The oldest are dropped, and encoded again on demand. */
  readonly frameBytesMax: number;
  /** Old trees kept for paged and exact lists. Others are rebuilt on demand. */
  readonly snapshotsMax: number;
  readonly snapshotAgeMs: number;
  /** Events undone to rebuild an old tree. For older trees, the store is read. */
  readonly undoEventsMax: number;
}

export const defaultCacherLimits: CacherLimits = {
  windowEventsMax: 102_400,
  windowBytesMax: 64 * 1024 * 1024,
  windowAgeMs: 90_000,
  windowEventsMin: 100,
  frameBytesMax: 8 * 1024 * 1024,
  snapshotsMax: 16,
  snapshotAgeMs: 300_000,
  undoEventsMax: 10_000,
};
