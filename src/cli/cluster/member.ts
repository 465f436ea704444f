import { isJsonObject } from "../../api/json.ts";
import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { parseMembers } from "../../cluster/replica-answer.ts";
import type { MemberStatus } from "../../storage/cluster.ts";
import { tableLines } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import { joinCommand } from "./join-command.ts";

/** Runs `quorate member list`. */
export async function listMembers(
  client: ClusterClient,
  output: "table" | "json",
  terminal: Terminal,
): Promise<number> {
  const answer = await client.get("/cluster/members");
  if (output === "json") terminal.print(JSON.stringify(answer, null, 2));
  else for (const line of tableLines(memberRows(parseMembers(answer["members"])))) terminal.print(line);
  return 0;
}

export interface LearnerOptions {
  readonly name: string;
  readonly peerAddress: string;
  readonly clientUrl: string;
}

/** Runs `quorate member add-learner`, and prints the command for the new machine. */
export async function addLearner(client: ClusterClient, learner: LearnerOptions, terminal: Terminal): Promise<number> {
  const answer = await client.change({ method: "POST", path: "/cluster/members", body: { ...learner } });
  const { token, caHash, member, expiration } = answer;
  const id = isJsonObject(member) ? member["id"] : undefined;
  terminal.complain(`member ${id} (${learner.name}) is recorded; run this on that machine before ${expiration}:`);
  const { name, peerAddress, clientUrl } = learner;
  const flags = { "peer-address": peerAddress, "advertise-client-url": clientUrl, "member-name": name };
  terminal.print(joinCommand({ endpoint: client.url, token: String(token), caHash: String(caHash), flags }));
  return 0;
}

/** Runs `quorate member promote`. */
export async function promoteMember(client: ClusterClient, id: number, terminal: Terminal): Promise<number> {
  await client.change({ method: "POST", path: `/cluster/members/${id}/promote` });
  terminal.print(`member ${id} is now a voter`);
  return 0;
}

/** Runs `quorate member remove`. */
export async function removeMember(client: ClusterClient, id: number, terminal: Terminal): Promise<number> {
  await client.change({ method: "DELETE", path: `/cluster/members/${id}` });
  terminal.print(`member ${id} is removed; its data directory cannot be used again`);
  return 0;
}

/** Runs `quorate member transfer-leader`. */
export async function transferLeader(client: ClusterClient, id: number, terminal: Terminal): Promise<number> {
  await client.change({ method: "POST", path: "/cluster/leader", body: { to: id } });
  terminal.print(`member ${id} is now the leader`);
  return 0;
}

function memberRows(members: readonly MemberStatus[]): string[][] {
  return [
    ["ID", "NAME", "ROLE", "PEER ADDRESS", "CLIENT URL"],
    ...members.map(({ id, name, role, peerAddress, clientUrl }) => [String(id), name, role, peerAddress, clientUrl]),
  ];
}
