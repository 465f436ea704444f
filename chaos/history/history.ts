import type { Operation } from "./operation.ts";
import type { CachedRead, ListRead } from "./reads.ts";
import type { InformerState, WatchRecord } from "./watch-record.ts";

/** The contents of a member at the end, read from it alone. */
export interface FinalState {
  readonly member: number;
  readonly revision: number;
  readonly objects: readonly FinalObject[];
}

export interface FinalObject {
  readonly key: string;
  readonly uid: string;
  readonly revision: number;
  readonly value: string;
  readonly color: string;
  /** Elements of a set in the order of their appends. */
  readonly elements: readonly string[];
}

/** Everything that the clients of a run observed. */
export interface History {
  readonly operations: Operation[];
  readonly lists: ListRead[];
  readonly cachedReads: CachedRead[];
  readonly watches: WatchRecord[];
  readonly informers: InformerState[];
  readonly finals: FinalState[];
  /** Unexpected answers, with their counts. */
  readonly surprises: Map<string, number>;
}

export function emptyHistory(): History {
  return {
    operations: [],
    lists: [],
    cachedReads: [],
    watches: [],
    informers: [],
    finals: [],
    surprises: new Map(),
  };
}
