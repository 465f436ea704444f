/** Counters of one cache since it was built, read at each scrape. */
export class CacheCounts {
  /** Times that the cache was built from the store's state. */
  builds = 0;
  /** Objects read from the store to build the cache. */
  builtFrom = 0;
  /** Events of the store. */
  received = 0;
  /** Events written to watchers. */
  dispatched = 0;
  /** Lists answered from memory, the entries that they examined, and the entries that they returned. */
  lists = 0;
  examined = 0;
  returned = 0;
  /** Consistent lists, and those that failed because the newest revision could not be determined. */
  consistentReads = 0;
  failedConsistentReads = 0;
  /** Lists that needed the store's history, the entries that they read, and the entries that they returned. */
  historyLists = 0;
  historyRead = 0;
  historyReturned = 0;
  /** Watches that ended because their position in the history was gone. */
  expiredWatches = 0;
}
