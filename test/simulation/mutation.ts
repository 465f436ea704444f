/** Deliberate errors that the simulation must detect. */
export const mutations = [
  /** A repeated batch is applied again. */
  "sessionsAdmitTwice",
  /** A snapshot, or a restart from one, loses the record of applied batches. */
  "sessionsNotInSnapshot",
  /** A replica answers consistent reads from its current state. */
  "readWithoutRound",
  /** A resumed watch begins one event too late. */
  "watchSkipsAtResume",
  /** A replica that took over a state by snapshot has no history. */
  "historyNotInSnapshot",
  /** Caches do not notice that the state was replaced. */
  "cacheNotReset",
  /** A write with an unknown outcome is reported as not done. */
  "unknownSaidNotDone",
  /** A repeated proposal gets another name. */
  "proposedUnderNewName",
  /** The only voter answers reads before it has applied entries that learners may have. */
  "readUnapplied",
  /** Checksums of records on disk are not compared. */
  "damageUnchecked",
  /** A serving process does not notice that its replica's state was replaced. */
  "servingNotReplaced",
  /** A serving process answers consistent reads from the current state of its replica. */
  "servingReadsUnconfirmed",
  /** A replica with unreadable objects starts and serves the others. */
  "unreadableServed",
] as const;

export type Mutation = (typeof mutations)[number];
