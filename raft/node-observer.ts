import type { Entry } from "./core/entry.ts";
import type { Index, MemberId } from "./core/ids.ts";
import type { Waiter } from "./waiter.ts";
import { RaftError, type RaftErrorCode } from "./raft-error.ts";
import type { StateMachine } from "./state-machine.ts";

/**
 * Hears how long things take, for metrics; what is now is asked for with `status` and `queues`. A member without an
 * observer measures nothing. Called in the middle of the work: must be quick, and must not throw.
 */
export interface NodeObserver {
  /** A proposal made here was answered, so long after it was made. */
  answered(ms: number, outcome: "applied" | RaftErrorCode): void;
  /** The first entry of a batch that was proposed here is committed and durable, so long after it was proposed. */
  committed(ms: number): void;
  /** The log made a write durable: waiting for the one before it is part of the time. */
  persisted(ms: number, entries: number): void;
  /** The state machine took in a batch: without the time for which it waited. */
  applied(ms: number, entries: number): void;
  snapshotSent(to: MemberId, ms: number, arrived: boolean): void;
  /** The state machine has restored it. */
  snapshotReceived(index: Index, ms: number): void;
}

/** How much is waiting where. What comes in is worked off as it comes, and waits nowhere. */
export interface Queues {
  /** Not yet put to the core: they wait for a busy disk. */
  readonly proposals: number;
  /** Proposed here, in the log, and not applied yet. */
  readonly entries: number;
  /** Sent to the leader, which has not answered yet. */
  readonly forwarded: number;
  readonly writes: number;
  /** Batches with the state machine. */
  readonly batches: number;
  /** To each other member, in bytes; where the transport counts them. */
  readonly outbound: readonly { readonly member: MemberId; readonly bytes: number }[];
}

/** Tells the observer how a proposal ends. */
export function observed<T>(waiter: Waiter<T>, observer: Partial<NodeObserver> | undefined, nowMs: number): Waiter<T> {
  const { answered } = observer ?? {};
  if (answered === undefined) return waiter;
  const tell = (outcome: "applied" | RaftErrorCode) => answered.call(observer, performance.now() - nowMs, outcome);
  return {
    ...waiter,
    resolve: (value) => {
      tell("applied");
      waiter.resolve(value);
    },
    reject: (error) => {
      tell(error instanceof RaftError ? error.code : "unknown");
      waiter.reject(error);
    },
  };
}

/** Has the state machine take in entries, and tells the observer how long that took. */
export async function observedApply<Result>(
  stateMachine: StateMachine<Result>,
  entries: readonly Entry[],
  observer: Partial<NodeObserver>,
): Promise<readonly Result[]> {
  const begunMs = performance.now();
  const results = await stateMachine.apply(entries);
  observer.applied?.(performance.now() - begunMs, entries.length);
  return results;
}
