import type { Index, MemberId } from "./ids.ts";
import { noIndex } from "./ids.ts";

/** An unacknowledged append. */
interface Inflight {
  /** Index of its last entry. */
  readonly index: Index;
  readonly bytes: number;
}

/** The leader is looking for the point where the logs agree: it sends one append and waits for a reply. */
export interface Probe {
  readonly state: "probe";
  match: Index;
  next: Index;
  paused: boolean;
}

/** The logs agree. Appends are sent without waiting, as many as fit in the window (thesis §10.2.1). */
export interface Replicate {
  readonly state: "replicate";
  match: Index;
  next: Index;
  inflights: Inflight[];
  inflightBytes: number;
}

/** The entries that the follower needs are compacted, so it gets a snapshot, and no appends meanwhile. */
export interface SnapshotTransfer {
  readonly state: "snapshot";
  match: Index;
  readonly pendingSnapshot: Index;
}

/**
 * The leader's knowledge of another member's log. Entries up to `match` are durable there and agree; `next` is the next
 * one to send.
 *
 * Invariant: `match` < `next`, and `match` never goes down within a term.
 */
export type Progress = Probe | Replicate | SnapshotTransfer;

export interface Peer {
  readonly member: MemberId;
  progress: Progress;
  /** Ticks since a message from it arrived in this term. */
  silentTicks: number;
  /** Newest commit index that was sent to it. */
  commitSent: Index;
  /** The newest round that it has answered. */
  roundAnswered: number;
  /** Whether to send it an append, even an empty one. The reply shows whether earlier messages were lost. */
  poked: boolean;
  /**
   * Index of the entry that removed it from the membership. The progress is kept until the member knows that this entry
   * is committed.
   */
  leavesAt: Index | undefined;
}

export function newPeer(member: MemberId, lastIndex: Index): Peer {
  const progress: Probe = { state: "probe", match: noIndex, next: (lastIndex + 1) as Index, paused: false };
  return { member, progress, silentTicks: 0, commitSent: noIndex, roundAnswered: 0, poked: true, leavesAt: undefined };
}

export function probe(match: Index, next: Index = (match + 1) as Index): Probe {
  return { state: "probe", match, next, paused: false };
}

export function replicate(match: Index): Replicate {
  return { state: "replicate", match, next: (match + 1) as Index, inflights: [], inflightBytes: 0 };
}

export function noteSent(progress: Replicate, index: Index, bytes: number): void {
  progress.next = (index + 1) as Index;
  progress.inflights.push({ index, bytes });
  progress.inflightBytes += bytes;
}

/** Records that everything up to `index` has arrived, including every append that ends there or earlier. */
export function noteArrived(progress: Replicate, index: Index): void {
  let arrived = 0;
  for (const inflight of progress.inflights) {
    if (inflight.index > index) break;
    progress.inflightBytes -= inflight.bytes;
    arrived++;
  }
  if (arrived > 0) progress.inflights.splice(0, arrived);
}
