import { type StatusError, status } from "../../api/status.ts";
import type { Gossip } from "../../cluster/gossip/gossip.ts";
import { leaderHint } from "../../cluster/gossip/leader-hint.ts";
import { type Cluster, ClusterError, type ClusterErrorCode } from "../../storage/cluster.ts";

/** Cause with the URL of the leader, to which the client must send the request. */
const leaderCause = "leaderUrl";

interface Form {
  readonly answer: readonly [code: number, reason: string];
  readonly retryAfterSeconds?: number;
}

const forms: Readonly<Record<ClusterErrorCode, Form>> = {
  // Not a redirect, because clients would follow it with their credentials without checking the target.
  notLeader: { answer: [421, "NotLeader"] },
  unknownMember: { answer: [404, "NotFound"] },
  notCaughtUp: { answer: [409, "Conflict"], retryAfterSeconds: 1 },
  quorumAtRisk: { answer: [409, "Conflict"] },
  conflict: { answer: [409, "Conflict"] },
  busy: { answer: [503, "ServiceUnavailable"], retryAfterSeconds: 1 },
  unknown: { answer: [504, "Timeout"] },
};
const noLeader: Form = { answer: [503, "ServiceUnavailable"], retryAfterSeconds: 1 };

/** Returns the answer to a client whose change of the cluster failed. */
export function clusterStatusError(
  error: ClusterError,
  cluster: Cluster,
  heard: ReturnType<Gossip["peers"]>,
): StatusError {
  const { code, message } = error;
  const cause = { reason: code, message };
  if (code !== "notLeader") return statusOf(forms[code], message, [cause]);
  const { leader: known, self, term } = cluster.status();
  const id = error.leader ?? known ?? leaderHint(heard, { self, term });
  const leader = cluster.members().find((member) => member.id === id);
  if (leader === undefined) return statusOf(noLeader, "no leader is known at the moment", [cause]);
  const text = `member ${leader.id} (${leader.name}) leads: ask ${leader.clientUrl}`;
  return statusOf(forms.notLeader, text, [cause, { reason: leaderCause, message: leader.clientUrl }]);
}

function statusOf({ answer, retryAfterSeconds }: Form, message: string, causes: { reason: string; message: string }[]) {
  return status.clusterChange(answer, message, causes, retryAfterSeconds);
}
