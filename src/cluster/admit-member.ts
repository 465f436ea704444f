import type { SharedSecrets } from "../access/certificates/shared-secrets.ts";
import { thrownText } from "../process/thrown-text.ts";
import type { UserInfo } from "../request/user-info.ts";
import { type Cluster, ClusterError, type MemberRecord } from "../storage/cluster.ts";
import type { JoinAnswer, NewMember } from "./join-protocol.ts";
import { joinTokenIdOf } from "./join-token.ts";
import type { JoinTokens } from "./join-tokens.ts";

/** The requester has no valid join token. The message is for people. */
export class JoinRefusedError extends Error {
  override readonly name = "JoinRefusedError";
}

export interface AdmissionParts {
  readonly cluster: Cluster;
  readonly tokens: Pick<JoinTokens, "find" | "consume">;
  /** Returns the secrets that members share. */
  readonly secrets: () => SharedSecrets;
}

/**
 * Adds the requesting machine as a learner. It votes once it has caught up and is promoted. Works on the leader only.
 * @param user the user that the request's token authenticated
 * @throws JoinRefusedError without a valid token of ours; ClusterError when the change cannot be made
 */
export async function admitMember(parts: AdmissionParts, request: NewMember, user: UserInfo): Promise<JoinAnswer> {
  const { cluster, tokens, secrets } = parts;
  requireLeader(cluster);
  const token = tokens.find(joinTokenIdOf(user.name) ?? "");
  if (token === undefined) throw new JoinRefusedError('joining needs a token of "quorate cluster token create"');
  // Fails on a replica that is alone, before a member is added.
  secrets();
  const member =
    token.member === undefined
      ? await addMember(cluster, request)
      : await claimMember(parts, { ...request, id: token.member }, token.id, user);
  try {
    // From now on, a rotation of the authority includes this member, starting from the current secrets.
    return { clusterId: cluster.clusterId, member, members: cluster.members(), secrets: secrets() };
  } catch (error) {
    // Without the secrets the machine could never join, and its name and address would remain taken.
    const why = thrownText(error);
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

/** Records a new member. @throws ClusterError, also when another member already has this name or address */
export async function addMember(cluster: Cluster, member: NewMember): Promise<MemberRecord> {
  requireLeader(cluster);
  return cluster.addLearner(member);
}

/** Returns the record that an administrator made for this token. Consumes the token. */
async function claimMember(
  { cluster, tokens }: AdmissionParts,
  claimed: MemberRecord,
  tokenId: string,
  user: UserInfo,
): Promise<MemberRecord> {
  const recorded = cluster.members().find(({ id }) => id === claimed.id);
  if (recorded === undefined) {
    throw new ClusterError("unknownMember", `member ${claimed.id}, for which the token was made, no longer exists`);
  }
  for (const field of ["name", "peerAddress", "clientUrl"] as const) {
    if (recorded[field] === claimed[field]) continue;
    throw new JoinRefusedError(`the token is for a member with ${field} ${recorded[field]}, not ${claimed[field]}`);
  }
  if (!(await tokens.consume(tokenId, user))) throw new JoinRefusedError("the token has just been used");
  return recorded;
}

/** Rejects the request if this member does not lead, because its state may be old. */
function requireLeader(cluster: Cluster): void {
  if (!cluster.isLeader) throw new ClusterError("notLeader", "another member leads", cluster.status().leader);
}
