import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writePrivateFile } from "../../access/certificates/private-file.ts";
import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { parseMembers } from "../../cluster/replica-answer.ts";
import { ownCommand } from "../../process/own-command.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { ServerOptions } from "../../server/config/server-options.ts";
import { votes } from "../../storage/cluster.ts";
import { openCluster } from "./connection.ts";
import { serverArguments } from "./local-cluster-arguments.ts";
import { clear, isMade, type LocalMember, urlOf } from "./local-cluster-layout.ts";
import type { Supervisor, Unit } from "./local-cluster-supervisor.ts";

const host = "127.0.0.1";
const tokenSeconds = 600;
const voteMsMax = 60_000;
const pollMs = 100;
const lastLine = "kubectl get namespaces\n";

/**
 * Starts the replicas. Existing replicas start together, because none becomes ready before a quorum runs. New replicas
 * join one by one. Resolves when all of them vote.
 * @throws StartupError when a replica ends
 */
export async function startReplicas(
  supervisor: Supervisor,
  members: readonly LocalMember[],
  options: ServerOptions,
): Promise<void> {
  const unitOf = (member: LocalMember) => replicaUnit(member, members, options);
  const made = members.filter(isMade);
  await Promise.all(made.map((member) => supervisor.start(unitOf(member))));
  for (const member of members) if (!made.includes(member)) await supervisor.start(unitOf(member));
  if (made.length < members.length) await allVote(members);
}

function replicaUnit(member: LocalMember, members: readonly LocalMember[], options: ServerOptions): Unit {
  return {
    name: member.name,
    isReady: (process) => process.printed().endsWith(lastLine),
    command: async () => [
      ...ownCommand(),
      ...(await commandOf(member, members)),
      ...serverArguments(memberOptions(member, options)),
    ],
  };
}

/** Returns the command that makes the cluster, joins it, or starts an existing replica. */
async function commandOf(member: LocalMember, members: readonly LocalMember[]): Promise<string[]> {
  if (isMade(member)) return ["up"];
  await clear(member);
  const inviting = members.find(isMade);
  if (inviting === undefined) return ["cluster", "init"];
  const client = clientOf(inviting);
  await forget(client, member);
  const body = { ttlSeconds: tokenSeconds, description: `for ${member.name} on this machine` };
  const { token, caHash } = await client.change({ method: "POST", path: "/cluster/tokens", body });
  // Pass the token in a file, because all users of the machine can see the command line.
  const file = tokenFileOf(member);
  await writePrivateFile(file, `${token}\n`);
  return ["cluster", "join", urlOf(inviting), "--token-file", file, "--ca-hash", String(caHash)];
}

/** Removes the record of a member whose data an interrupted start has lost. */
async function forget(client: ClusterClient, { name }: LocalMember): Promise<void> {
  const { members } = await client.get("/cluster/members");
  const recorded = parseMembers(members).find((known) => known.name === name);
  if (recorded !== undefined) await client.change({ method: "DELETE", path: `/cluster/members/${recorded.id}` });
}

async function allVote(members: readonly LocalMember[]): Promise<void> {
  for (const member of members) await rm(tokenFileOf(member), { force: true });
  const [first] = members;
  if (first === undefined) return;
  const client = clientOf(first);
  for (const endMs = performance.now() + voteMsMax; performance.now() < endMs; await Bun.sleep(pollMs)) {
    const { members: known } = await client.get("/cluster/members");
    if (parseMembers(known).every(votes)) return;
  }
  throw new StartupError('a replica did not catch up with the others in time: see "quorate status"');
}

function clientOf({ directory }: LocalMember): ClusterClient {
  return openCluster({ kubeconfig: join(directory, "kubeconfig") });
}

function tokenFileOf({ directory }: LocalMember): string {
  return `${directory}.token`;
}

/** Returns the user's options, with separate values for the options that replicas cannot share. */
function memberOptions(member: LocalMember, options: ServerOptions): ServerOptions {
  const { name, directory, port, peerPort, gossipPort } = member;
  const { bindAddress, tlsSan = [], auditLogPath, gossip } = options;
  const balancerHosts = bindAddress === undefined || ["0.0.0.0", "::"].includes(bindAddress) ? [] : [bindAddress];
  const hosts = [...balancerHosts, ...tlsSan];
  return {
    ...options,
    dataDir: directory,
    bindAddress: host,
    securePort: port,
    kubeconfig: undefined,
    memberName: name,
    peerAddress: `${host}:${peerPort}`,
    gossipAddress: gossip === false ? undefined : `${host}:${gossipPort}`,
    tlsSan: hosts.length === 0 ? undefined : hosts,
    auditLogPath: auditLogPath === undefined || auditLogPath === "-" ? auditLogPath : `${auditLogPath}.${name}`,
  };
}
