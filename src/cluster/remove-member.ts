import { type Cluster, ClusterError, type MemberNumber } from "../storage/cluster.ts";

/**
 * Takes a member out of the cluster. The leader does not remove itself: it would lead no more before it could say so. It hands over to
 * the voter that is nearest, which is then to be asked.
 * @throws ClusterError
 */
export async function removeMember(cluster: Cluster, id: MemberNumber): Promise<void> {
  const heir = cluster.isLeader && id === cluster.self ? heirOf(cluster) : undefined;
  if (heir === undefined) return cluster.remove(id);
  await cluster.transferLeadership(heir);
  throw new ClusterError("notLeader", `member ${heir} leads now`, heir);
}

/** Undefined where nobody could take over: then the removal is refused, and says why. */
function heirOf(cluster: Cluster): MemberNumber | undefined {
  const { members } = cluster.status();
  const voters = members.filter(
    ({ id, role, isActive }) => id !== cluster.self && role === "voter" && isActive === true,
  );
  return voters.toSorted((a, b) => (b.matchIndex ?? 0) - (a.matchIndex ?? 0))[0]?.id;
}
