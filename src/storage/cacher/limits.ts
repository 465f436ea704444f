/** Bounds of one resource's cache. What happens at each is said beside it. */
export interface CacherLimits {
  /** Events kept in memory; older ones are read from the store. */
  readonly windowEventsMax: number;
  /** Body bytes that the kept events hold alive; older events are dropped beyond it. */
  readonly windowBytesMax: number;
  /** Events older than this are dropped … */
  readonly windowAgeMs: number;
  /** … but so many always stay. */
  readonly windowEventsMin: number;
  /** Encoded frames kept for sharing; the oldest are encoded again when somebody still needs them. */
  readonly frameBytesMax: number;
  /** Old trees kept for paged and exact lists; older ones are rebuilt. */
  readonly snapshotsMax: number;
  readonly snapshotAgeMs: number;
  /** Events undone to rebuild an old tree; beyond it the list is read from the store. */
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
