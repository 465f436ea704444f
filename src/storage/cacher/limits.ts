/** Limits of one resource's cache. Each comment gives the behaviour at the limit. */
export interface CacherLimits {
  /** Events kept in memory. Older ones are read from the store. */
  readonly windowEventsMax: number;
  /** Body bytes that the kept events hold alive. Older events are dropped beyond it. */
  readonly windowBytesMax: number;
  /** Age at which events are dropped, except for the newest `windowEventsMin`. */
  readonly windowAgeMs: number;
  /** Newest events that stay whatever their age. */
  readonly windowEventsMin: number;
  /** Bytes of encoded frames kept for sharing. The oldest are dropped and encoded again when needed. */
  readonly frameBytesMax: number;
  /** Old trees kept for paged and exact lists. Others are rebuilt. */
  readonly snapshotsMax: number;
  readonly snapshotAgeMs: number;
  /** Events undone to rebuild an old tree. Beyond it the list is read from the store. */
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
