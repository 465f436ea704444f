import { type MemberNumber, type MemberStatus, votes } from "../storage/cluster.ts";
import type { EncryptedResources } from "../storage/encryption/resource-transformers.ts";
import { type ClusterClient, ClusterRequestError } from "./cluster-client.ts";
import { parseReplicaAnswer, type ReplicaAnswer } from "./replica-answer.ts";

/** Maximum lag of a member that does not count as behind. Some entries are always on their way. */
const lagMax = 1_000;
const memberTimeoutMs = 3_000;

export type MemberHealth = "ok" | "behind" | "failed" | "differs" | "unreachable" | "removed";

/** The report on a member: its own answer, or the leader's view if it does not answer. */
export interface MemberReport {
  readonly id: MemberNumber;
  readonly name: string;
  readonly role: MemberStatus["role"];
  readonly peerAddress: string;
  readonly clientUrl: string;
  readonly health: MemberHealth;
  /** Short description of its problem. */
  readonly problem: string | undefined;
  readonly version: string | undefined;
  readonly appliedIndex: number | undefined;
  /** Committed entries that it has not applied. */
  readonly lag: number | undefined;
  readonly revision: number | undefined;
  readonly objects: number | undefined;
  readonly logBytes: number | undefined;
}

export interface ClusterReport {
  readonly clusterId: string;
  readonly leader: MemberNumber | undefined;
  readonly term: number;
  readonly commitIndex: number;
  readonly revision: number;
  /** Number of voters that are healthy or merely behind, and of all voters. */
  readonly voters: { readonly well: number; readonly all: number };
  /** The rules of encryption of the member that was asked; undefined if it does not know any. */
  readonly encryption: readonly EncryptedResources[] | undefined;
  readonly members: readonly MemberReport[];
}

/**
 * Asks one member for the members, and then each of them for its status. @throws ClusterRequestError if the first does
 * not answer
 */
export async function clusterReport(client: ClusterClient): Promise<ClusterReport> {
  const first = parseReplicaAnswer(await client.get("/cluster/status"));
  const answers = await Promise.all(first.members.map((member) => askMember(client, member, first)));
  const known = [first, ...answers.flatMap(({ status }) => (status === undefined ? [] : [status]))];
  // The status with the newest term names the current leader, and the leader knows about the others.
  const newest = known.reduce((best, status) => (status.term > best.term ? status : best));
  const leading = known.find(({ role, term }) => role === "leader" && term === newest.term) ?? newest;
  const commitIndex = Math.max(...known.map((status) => status.commitIndex));
  const members = answers.map((answer) => memberReport(answer, { leading, commitIndex, known }));
  const voters = members.filter(votes);
  return {
    clusterId: first.clusterId,
    leader: leading.leader,
    term: newest.term,
    commitIndex,
    revision: Math.max(...known.map(({ revision }) => revision)),
    voters: { well: voters.filter(({ health }) => health === "ok" || health === "behind").length, all: voters.length },
    encryption: first.encryption?.resources,
    members,
  };
}

interface MemberAnswer {
  readonly member: MemberStatus;
  readonly status: ReplicaAnswer | undefined;
  /** Reason for a missing answer. */
  readonly problem: string | undefined;
}

async function askMember(client: ClusterClient, member: MemberStatus, first: ReplicaAnswer): Promise<MemberAnswer> {
  if (member.id === first.self) return { member, status: first, problem: undefined };
  try {
    const status = parseReplicaAnswer(await client.at(member.clientUrl).get("/cluster/status", memberTimeoutMs));
    const isIt = status.clusterId === first.clusterId && status.self === member.id;
    if (isIt) return { member, status, problem: undefined };
    return { member, status: undefined, problem: `${member.clientUrl} is another server` };
  } catch (error) {
    const problem = error instanceof ClusterRequestError ? error.message : String(error);
    return { member, status: undefined, problem };
  }
}

interface Whole {
  readonly leading: ReplicaAnswer;
  readonly commitIndex: number;
  readonly known: readonly ReplicaAnswer[];
}

function memberReport(answer: MemberAnswer, whole: Whole): MemberReport {
  const { member, status } = answer;
  const seen = whole.leading.members.find(({ id }) => id === member.id);
  const isRemoved = seen === undefined && whole.leading.role === "leader";
  const { id, name, peerAddress, clientUrl, role, matchIndex } = seen ?? member;
  const appliedIndex = status?.appliedIndex ?? matchIndex;
  const lag = appliedIndex === undefined ? undefined : Math.max(0, whole.commitIndex - appliedIndex);
  return {
    id,
    name,
    role: isRemoved ? "none" : role,
    peerAddress,
    clientUrl,
    ...(isRemoved
      ? { health: "removed" as const, problem: "the cluster has removed it: stop it" }
      : judge(answer, whole.known, lag)),
    version: status?.version,
    appliedIndex,
    lag,
    revision: status?.revision,
    objects: status?.objects,
    logBytes: status?.logBytes,
  };
}

function judge(
  { member, status, problem }: MemberAnswer,
  known: readonly ReplicaAnswer[],
  lag: number | undefined,
): { health: MemberHealth; problem: string | undefined } {
  if (status === undefined) {
    return { health: "unreachable", problem: [problem, ...heardOf(member.id, known)].join("; ") };
  }
  if (status.failure !== undefined) return { health: "failed", problem: status.failure };
  const { appliedIndex, stateHash } = status;
  const twin = known.find((other) => other.appliedIndex === appliedIndex && other.stateHash !== stateHash);
  if (twin !== undefined) {
    return { health: "differs", problem: `its state is not that of member ${twin.self} at index ${appliedIndex}` };
  }
  if (lag !== undefined && lag > lagMax) return { health: "behind", problem: `it is ${lag} entries behind` };
  const { unreadable = 0 } = status.encryption ?? {};
  if (unreadable > 0)
    return { health: "ok", problem: `it cannot read ${unreadable} objects: compare its keys with those of others` };
  return { health: "ok", problem: undefined };
}

/** Returns the latest gossip about a member. Others may still hear from a member that does not answer us. */
function heardOf(id: MemberNumber, known: readonly ReplicaAnswer[]): string[] {
  const heard = known
    .flatMap(({ self, gossip }) => gossip.map((record) => ({ by: self, ...record })))
    .filter(({ member }) => member === id)
    .toSorted((a, b) => a.ageMs - b.ageMs)[0];
  if (heard === undefined) return [];
  const failing = heard.failing.length === 0 ? "" : `, not ready: ${heard.failing.join(", ")}`;
  return [`member ${heard.by} heard from it ${Math.round(heard.ageMs / 1_000)} s ago${failing}`];
}
