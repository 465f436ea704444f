import type { ConfChange } from "./conf-change.ts";
import { changeMembership, leaveJoint, promotedBy } from "./conf-change.ts";
import { encodeConfEntry } from "./conf-entry.ts";
import type { MemberId } from "./ids.ts";
import { isJoint, membersOf } from "./membership.ts";
import { newPeer } from "./progress.ts";
import type { Raft } from "./raft.ts";
import type { Refusal } from "./refusal.ts";
import { hearsQuorum, isActive, isCaughtUp, isVoting, knowsCommit } from "./replication.ts";
import type { Leader } from "./role.ts";

export type Planned =
  | { readonly kind: "entry"; readonly data: Uint8Array }
  | { readonly kind: "refused"; readonly reason: Refusal };

/** Returns the entry that begins `change`, or the reason for a rejection (thesis §4.1–4.3). */
export function planChange(raft: Raft, leader: Leader, { steps, context }: ConfChange): Planned {
  const current = raft.log.membership;
  const reason = hindrance(raft, leader);
  if (reason !== undefined) return { kind: "refused", reason };
  const changed = changeMembership(current, steps);
  if (changed.kind === "refused") return changed;
  const { membership } = changed;
  if (!promotedBy(current, membership).every((member) => isReady(raft, leader, member))) {
    return { kind: "refused", reason: "behind" };
  }
  if (!hearsQuorum(raft, leader, membership)) return { kind: "refused", reason: "quorumLost" };
  return { kind: "entry", data: encodeConfEntry({ membership, context }) };
}

/**
 * Returns the next step if the membership in force is committed. A joint membership is followed by its new half. A leader
 * that is no longer a voter has completed its own removal and resigns (thesis §4.2.2, §4.3).
 */
export function settleMembership(raft: Raft): Uint8Array | "resign" | undefined {
  const { membership, membershipIndex, commit } = raft.log;
  if (membershipIndex > commit) return undefined;
  if (isJoint(membership)) return encodeConfEntry({ membership: leaveJoint(membership), context: new Uint8Array() });
  return isVoting(raft) ? undefined : "resign";
}

/**
 * Updates the peers to the members in force. A removed member still gets the entry that removes it and learns of its
 * commit; otherwise it would wait for a leader forever.
 */
export function syncPeers({ id, log }: Raft, { peers }: Leader): void {
  const members = membersOf(log.membership);
  for (const peer of peers.values()) {
    if (members.includes(peer.member)) peer.leavesAt = undefined;
    else peer.leavesAt ??= log.membershipIndex;
  }
  for (const member of members) {
    if (member !== id && !peers.has(member)) peers.set(member, newPeer(member, log.lastIndex));
  }
}

/** Drops removed members that know of their removal or have become silent. */
export function dropWhoLeft(raft: Raft, { peers }: Leader): void {
  for (const peer of peers.values()) {
    if (peer.leavesAt === undefined) continue;
    const knows = peer.progress.match >= peer.leavesAt && peer.commitSent >= peer.leavesAt;
    if (knows || !isActive(raft, peer)) peers.delete(peer.member);
  }
}

/**
 * Returns the reason why a change cannot begin. Changes run one at a time, and a joint membership is always followed by
 * an uncommitted one. A new leader cannot know whether the newest membership in its log is committed, or whether
 * another was meant to follow, until it has committed an entry of its own term.
 */
function hindrance(raft: Raft, leader: Leader): Refusal | undefined {
  const { log } = raft;
  if (leader.transfer !== undefined) return "transferring";
  if (raft.isLogFull) return "logFull";
  const isOpen = log.membershipIndex > log.commit || !knowsCommit(raft, leader);
  return isOpen ? "changePending" : undefined;
}

function isReady(raft: Raft, leader: Leader, member: MemberId): boolean {
  const peer = leader.peers.get(member);
  return peer !== undefined && isCaughtUp(raft, peer);
}
