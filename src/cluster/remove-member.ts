import { type Cluster, ClusterError, type MemberNumber } from "../storage/cluster.ts";

/**
 * Removes a member from the cluster. A leader does not remove itself, because it could not confirm the removal. It
 * transfers leadership to the most advanced voter, and directs the client there.
 * @throws ClusterError
 */
export async function removeMember(cluster: Cluster, id: MemberNumber): Promise<void> {
  const heir = cluster.isLeader && id === cluster.self ? heirOf(cluster) : undefined;
  if (heir === undefined) return cluster.remove(id);
  await cluster.transferLeadership(heir);
  throw new ClusterError("notLeader", `member ${heir} leads now`, heir);
}

/**
 * Returns the most advanced voter; undefined if there is none, in which case the removal will be rejected with the
 * reason.
 */
function heirOf(cluster: Cluster): MemberNumber | undefined {
  const { members } = cluster.status();
  const voters = members.filter(
    ({ id, role, isActive }) => id !== cluster.self && role === "voter" && isActive === true,
  );
  return voters.toSorted((a, b) => (b.matchIndex ?? 0) - (a.matchIndex ?? 0))[0]?.id;
}
