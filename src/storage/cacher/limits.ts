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
  /** Events that a watch reads from the store's history at a time. The rest is read when these are sent. */
  readonly historyEventsMax: number;
  /** Bytes of encoded frames kept for sharing. The oldest are dropped, and encoded again on demand. */
  readonly frameBytesMax: number;
  /** Old trees kept for paged and exact lists. Others are rebuilt on demand. */
  readonly snapshotsMax: number;
  readonly snapshotAgeMs: number;
  /** Events undone to rebuild an old tree. For older trees, the store is read. */
  readonly undoEventsMax: number;
  /** Number of objects below which every selection is a scan. */
  readonly postedResourceMin: number;
  /** Labels and fields with postings. Selections by others are scans. */
  readonly postedFacetsMax: number;
  /** Entries in all postings. The least recently used postings are dropped. */
  readonly postedEntriesMax: number;
  /** Age at which unused postings are dropped. */
  readonly postedAgeMs: number;
  /** Entries read in one turn for new postings. The rest is read in further turns. */
  readonly postedStepMax: number;
  /** Labels and fields that may get postings soon. Others are not considered until some of these are forgotten. */
  readonly candidateFacetsMax: number;
}

export const defaultCacherLimits: CacherLimits = {
  windowEventsMax: 102_400,
  windowBytesMax: 64 * 1024 * 1024,
  windowAgeMs: 90_000,
  windowEventsMin: 100,
  historyEventsMax: 128,
  frameBytesMax: 8 * 1024 * 1024,
  snapshotsMax: 16,
  snapshotAgeMs: 300_000,
  undoEventsMax: 10_000,
  postedResourceMin: 256,
  postedFacetsMax: 16,
  postedEntriesMax: 500_000,
  postedAgeMs: 300_000,
  postedStepMax: 2_048,
  candidateFacetsMax: 256,
};
