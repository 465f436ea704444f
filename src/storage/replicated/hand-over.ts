import type { RaftNode } from "../../../raft/index.ts";
import type { LeaderWatch } from "./leader-watch.ts";

/** Maximum wait for a transfer. A successful one takes a few milliseconds. */
const handOverMs = 1_000;

/** Transfers leadership from this stopping replica to the most advanced voter, so that the others need no election. */
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
    // The leader is busy with another change. The others will elect a new leader.
    return;
  }
  await leader.changed(handOverMs);
}
