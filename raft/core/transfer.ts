import type { MemberId } from "./ids.ts";
import type { Raft } from "./raft.ts";
import type { Refusal } from "./refusal.ts";
import type { Leader } from "./role.ts";

/** Stops taking proposals, brings `to` up to date, then orders it to stand for election (thesis §3.10). */
export function beginTransfer(raft: Raft, leader: Leader, to: MemberId): Refusal | undefined {
  if (to === raft.id || !raft.log.membership.voters.includes(to)) return "notAVoter";
  if (leader.transfer?.to === to) return undefined;
  if (leader.transfer !== undefined) return "transferring";
  leader.transfer = { to, elapsedTicks: 0, sent: false };
  completeTransfer(raft, leader);
  return undefined;
}

/** Orders the target to stand once its log is complete. Before that it would lose the election. */
export function completeTransfer(raft: Raft, leader: Leader): void {
  const { transfer } = leader;
  if (transfer === undefined || transfer.sent) return;
  if (leader.peers.get(transfer.to)?.progress.match !== raft.log.lastIndex) return;
  transfer.sent = true;
  raft.send({ type: "timeoutNow", from: raft.id, to: transfer.to, term: raft.term });
}

/** Cancels the transfer if the target does not take over within an election timeout. Proposals are accepted again. */
export function tickTransfer(raft: Raft, leader: Leader): void {
  const { transfer } = leader;
  if (transfer === undefined) return;
  transfer.elapsedTicks++;
  if (transfer.elapsedTicks >= raft.electionTicks) leader.transfer = undefined;
}
