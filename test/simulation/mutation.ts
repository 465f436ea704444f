/** Deliberate errors that the simulation must detect. */
export const mutations = [
  /** A batch that comes again is applied again. */
  "sessionsAdmitTwice",
  /** What was applied is forgotten with a snapshot or a restart from one. */
  "sessionsNotInSnapshot",
  /** A replica answers consistent reads by what it has. */
  "readWithoutRound",
  /** A watch that is resumed begins one event too late. */
  "watchSkipsAtResume",
  /** A replica that took over a state by snapshot has none of its past. */
  "historyNotInSnapshot",
  /** Caches do not hear that the state was replaced. */
  "cacheNotReset",
  /** A write is answered as not done when nobody knows. */
  "unknownSaidNotDone",
  /** What is proposed again gets another name. */
  "proposedUnderNewName",
  /** The only voter answers reads before it has applied what learners may have. */
  "readUnapplied",
] as const;

export type Mutation = (typeof mutations)[number];
