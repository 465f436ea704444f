import type { RaftNode } from "../../../raft/index.ts";
import type { LeaderWatch } from "./leader-watch.ts";

/** A transfer takes a few milliseconds, or does not come about. */
const handOverMs = 1_000;

/** Has the voter that is furthest lead instead of this replica, which is going: the others need not elect one then. */
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
    // Something else is under way; they will elect one.
    return;
  }
  await leader.changed(handOverMs);
}
