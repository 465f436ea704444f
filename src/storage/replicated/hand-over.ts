import type { RaftNode } from "../../../raft/index.ts";
import type { LeaderWatch } from "./leader-watch.ts";

/** Longest wait for a transfer, which takes a few milliseconds when it succeeds. */
const handOverMs = 1_000;

/**
 * Transfers leadership from this replica, which is stopping, to the most advanced voter. The others then need no
 * election.
 */
export async function handOver(
  node: Pick<RaftNode<undefined>, "status" | "transferLeadership">,
  leader: LeaderWatch,
): Promise<void> {
  if (!leader.isLeader) return;
  const { id, progress } = node.status();
  const [next] = progress
    .filter(({ member, learner, active }) => member !== id && !learner && active)
    .sort((one, other) => other.match - one.match);
  if (next === undefined) return;
  try {
    node.transferLeadership(next.member);
  } catch {
    // The leader is busy with another change. The others will elect a leader.
    return;
  }
  await leader.changed(handOverMs);
}
