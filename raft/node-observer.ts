import type { Entry } from "./core/entry.ts";
import type { Index, MemberId } from "./core/ids.ts";
import { RaftError, type RaftErrorCode } from "./raft-error.ts";
import type { StateMachine } from "./state-machine.ts";
import type { Waiter } from "./waiter.ts";

/**
 * Receives durations for metrics. `status` and `queues` give current values. A member without an observer measures
 * nothing. The methods are called in the middle of the work, so they must be quick and must not throw.
 */
export interface NodeObserver {
  /** Reports the time from a proposal here to its answer. */
  answered(ms: number, outcome: "applied" | RaftErrorCode): void;
  /** Reports the time from the proposal of a batch here until its first entry is committed and durable. */
  committed(ms: number): void;
  /** Reports the time of a durable write, including the wait for the one before. */
  persisted(ms: number, entries: number): void;
  /** Reports how long the state machine took to apply a batch, without the wait before it. */
  applied(ms: number, entries: number): void;
  snapshotSent(to: MemberId, ms: number, arrived: boolean): void;
  /** Reports that the state machine has restored a snapshot. */
  snapshotReceived(index: Index, ms: number): void;
}

/** The lengths of the queues. Incoming messages are handled at once and have no queue. */
export interface Queues {
  /** Proposals not yet given to the core because the disk is busy. */
  readonly proposals: number;
  /** Entries proposed here that are in the log but not applied yet. */
  readonly entries: number;
  /** Proposals sent to the leader that it has not answered yet. */
  readonly forwarded: number;
  readonly writes: number;
  /** Batches at the state machine. */
  readonly batches: number;
  /** Bytes queued for each other member, if the transport counts them. */
  readonly outbound: readonly { readonly member: MemberId; readonly bytes: number }[];
}

/** Returns a waiter that reports the end of a proposal to the observer. */
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

/** Applies entries and reports the time to the observer. */
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
