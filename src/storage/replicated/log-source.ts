import type { HistoryReader } from "../mvcc/history-reader.ts";
import type { LogFollower } from "./log-followers.ts";
import type { ReplicaState } from "./replica-state.ts";

/** The log of a replica, for copies of its state in other processes. */
export interface LogSource {
  readonly state: Pick<ReplicaState, "objects" | "corrupt" | "record"> & {
    readonly history: Pick<HistoryReader, "scanAt" | "eventsAfter">;
  };
  follow(follower: LogFollower): Disposable;
  /** Appends to the log, and resolves when the entry is applied here. @throws RaftError */
  propose(data: Uint8Array): Promise<unknown>;
  /** Returns an index that includes every write acknowledged so far, once it is applied here. @throws RaftError */
  readIndex(): number | Promise<number>;
}
