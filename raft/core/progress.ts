import type { Index, MemberId } from "./ids.ts";
import { noIndex } from "./ids.ts";

/** An append on its way. */
interface Inflight {
  /** Of its last entry. */
  readonly index: Index;
  readonly bytes: number;
}

/** Where the two logs agree is being looked for: one append at a time, then silence until something is heard. */
export interface Probe {
  readonly state: "probe";
  match: Index;
  next: Index;
  paused: boolean;
}

/** The logs agree: appends follow each other without waiting, as many as fit in the window (thesis §10.2.1). */
export interface Replicate {
  readonly state: "replicate";
  match: Index;
  next: Index;
  inflights: Inflight[];
  inflightBytes: number;
}

/** What the follower needs is compacted away: it is being sent a snapshot, and nothing else meanwhile. */
export interface SnapshotTransfer {
  readonly state: "snapshot";
  match: Index;
  readonly pendingSnapshot: Index;
}

/**
 * What the leader knows of one log other than its own. Entries up to `match` are durable there and agree; `next` is
 * the next one to send.
 *
 * Invariant: `match` < `next`, and `match` never goes down within a term.
 */
export type Progress = Probe | Replicate | SnapshotTransfer;

export interface Peer {
  readonly member: MemberId;
  progress: Progress;
  /** Ticks since it was last heard from in this term. */
  silentTicks: number;
  /** The newest commit index that was sent to it. */
  commitSent: Index;
  /** The newest round that it has answered. */
  roundAnswered: number;
  /** Send it an append, be it an empty one: its answer shows whether what was sent before is lost. */
  poked: boolean;
  /** It is out of the membership since the entry here; it is kept until it has heard that this is committed. */
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

/** Everything up to `index` has arrived, and with it every append that ends there or before. */
export function noteArrived(progress: Replicate, index: Index): void {
  let arrived = 0;
  for (const inflight of progress.inflights) {
    if (inflight.index > index) break;
    progress.inflightBytes -= inflight.bytes;
    arrived++;
  }
  if (arrived > 0) progress.inflights.splice(0, arrived);
}
