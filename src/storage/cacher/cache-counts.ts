/** Counters of one cache since it was built. They are read with the metrics, and cost an addition here and there. */
export class CacheCounts {
  /** Times that the cache was built from the store's state. */
  builds = 0;
  /** Objects that the store gave for it. */
  builtFrom = 0;
  /** Events of the store. */
  received = 0;
  /** Events written to watchers. */
  dispatched = 0;
  /** Lists answered from memory, the entries that were looked at, and those that were returned. */
  lists = 0;
  examined = 0;
  returned = 0;
  /** Lists of the newest state, and those that failed because it could not be known. */
  consistentReads = 0;
  failedConsistentReads = 0;
  /** Lists that needed the store's history, the entries that were read, and those that were returned. */
  historyLists = 0;
  historyRead = 0;
  historyReturned = 0;
  /** Watches that ended because their position in the history was gone. */
  expiredWatches = 0;
}
