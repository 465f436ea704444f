import type { ConfChange } from "./conf-change.ts";
import { changeMembership, leaveJoint, promotedBy } from "./conf-change.ts";
import { encodeConfEntry } from "./conf-entry.ts";
import type { MemberId } from "./ids.ts";
import { isJoint, membersOf } from "./membership.ts";
import { newPeer } from "./progress.ts";
import type { Raft } from "./raft.ts";
import type { Refusal } from "./refusal.ts";
import { hearsQuorum, isCaughtUp, isVoting } from "./replication.ts";
import type { Leader } from "./role.ts";

export type Planned =
  | { readonly kind: "entry"; readonly data: Uint8Array }
  | { readonly kind: "refused"; readonly reason: Refusal };

/** The entry that begins `change`, or why it may not begin (thesis §4.1–4.3). */
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
 * What follows when the membership in force is committed: out of a joint one leads an entry with the new half alone;
 * a leader that is no voter any more has led its own removal to the end, and goes (thesis §4.2.2, §4.3).
 */
export function settleMembership(raft: Raft): Uint8Array | "resign" | undefined {
  const { membership, membershipIndex, commit } = raft.log;
  if (membershipIndex > commit) return undefined;
  if (isJoint(membership)) return encodeConfEntry({ membership: leaveJoint(membership), context: new Uint8Array() });
  return isVoting(raft) ? undefined : "resign";
}

/** The leader replicates to whoever the membership in force names. */
export function syncPeers(raft: Raft, leader: Leader): void {
  const members = membersOf(raft.log.membership).filter((member) => member !== raft.id);
  const before = new Map(leader.peers);
  leader.peers.clear();
  for (const member of members) leader.peers.set(member, before.get(member) ?? newPeer(member, raft.log.lastIndex));
}

/**
 * One at a time; a joint membership is always followed by one that is not committed. A new leader cannot know whether the newest membership in its log is committed, nor whether another
 * one was meant to follow, until it has committed an entry of its own term.
 */
function hindrance({ log, isLogFull }: Raft, leader: Leader): Refusal | undefined {
  if (leader.transfer !== undefined) return "transferring";
  if (isLogFull) return "logFull";
  const open = log.membershipIndex > log.commit || log.commit < leader.firstIndex;
  return open ? "changePending" : undefined;
}

function isReady(raft: Raft, leader: Leader, member: MemberId): boolean {
  const peer = leader.peers.get(member);
  return peer !== undefined && isCaughtUp(raft, peer);
}
