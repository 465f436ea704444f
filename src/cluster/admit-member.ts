import type { UserInfo } from "../request/user-info.ts";
import type { SharedSecrets } from "../access/certificates/shared-secrets.ts";
import { type Cluster, ClusterError, type MemberRecord } from "../storage/cluster.ts";
import type { JoinAnswer, NewMember } from "./join-protocol.ts";
import { joinTokenIdOf } from "./join-token.ts";
import type { JoinTokens } from "./join-tokens.ts";

/** Who asks to join has no token for it. The message is for people. */
export class JoinRefusedError extends Error {
  override readonly name = "JoinRefusedError";
}

export interface AdmissionParts {
  readonly cluster: Cluster;
  readonly tokens: Pick<JoinTokens, "find" | "consume">;
  /** What the new member will have in common with us. */
  readonly secrets: () => SharedSecrets;
}

/**
 * Makes the machine that asks a member: a learner, which votes once it has caught up and is promoted. Only on the leader.
 * @param user whom the token of the request authenticated
 * @throws JoinRefusedError without a token of ours that is good; ClusterError when the change cannot be made
 */
export async function admitMember(parts: AdmissionParts, request: NewMember, user: UserInfo): Promise<JoinAnswer> {
  const { cluster, tokens, secrets } = parts;
  requireLeader(cluster);
  const token = tokens.find(joinTokenIdOf(user.name) ?? "");
  if (token === undefined) throw new JoinRefusedError('joining needs a token of "quorate cluster token create"');
  // A replica that is alone has none: better to hear of it before there is a member.
  secrets();
  const member =
    token.member === undefined
      ? await addMember(cluster, request)
      : await claimMember(parts, { ...request, id: token.member }, token.id, user);
  try {
    // Whoever takes the members to another authority sees this one from now on: what we have now is what it goes on from.
    return { clusterId: cluster.clusterId, member, members: cluster.members(), secrets: secrets() };
  } catch (error) {
    // Without them it can never come, and its name and address would be taken.
    const why = error instanceof Error ? error.message : String(error);
    const isGone = token.member === undefined && (await wasRemoved(cluster, member));
    const remedy = isGone ? "" : `, and "quorate member remove ${member.id}" before the machine joins with a new token`;
    throw new ClusterError("conflict", `${why}${remedy}`);
  }
}

async function wasRemoved(cluster: Cluster, { id }: MemberRecord): Promise<boolean> {
  try {
    await cluster.remove(id);
    return true;
  } catch {
    return false;
  }
}

/** @throws ClusterError, also when a member has the name or the address already */
export async function addMember(cluster: Cluster, member: NewMember): Promise<MemberRecord> {
  requireLeader(cluster);
  return cluster.addLearner(member);
}

/** The token was made for a member that an administrator has recorded: it is used up, and can never be used again. */
async function claimMember(
  { cluster, tokens }: AdmissionParts,
  claimed: MemberRecord,
  tokenId: string,
  user: UserInfo,
): Promise<MemberRecord> {
  const recorded = cluster.members().find(({ id }) => id === claimed.id);
  if (recorded === undefined) {
    throw new ClusterError("unknownMember", `member ${claimed.id}, which the token is for, is gone`);
  }
  for (const field of ["name", "peerAddress", "clientUrl"] as const) {
    if (recorded[field] === claimed[field]) continue;
    throw new JoinRefusedError(`the token is for a member with ${field} ${recorded[field]}, not ${claimed[field]}`);
  }
  if (!(await tokens.consume(tokenId, user))) throw new JoinRefusedError("the token was used a moment ago");
  return recorded;
}

/** Who does not lead may know less than there is. */
function requireLeader(cluster: Cluster): void {
  if (!cluster.isLeader) throw new ClusterError("notLeader", "another member leads", cluster.status().leader);
}
