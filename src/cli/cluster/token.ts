import { isJsonObject } from "../../api/json.ts";
import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { gossipPortOffset } from "../../cluster/membership.ts";
import { parseMembers } from "../../cluster/replica-answer.ts";
import { defaultDataDir } from "../../server/config/server-options.ts";
import { tableLines } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import { joinCommand } from "./join-command.ts";

export interface TokenOptions {
  readonly ttlSeconds: number | undefined;
  readonly description: string | undefined;
}

/** Runs `quorate cluster token create`, and prints the command for the new machine. */
export async function createToken(client: ClusterClient, options: TokenOptions, terminal: Terminal): Promise<number> {
  const { ttlSeconds, description } = options;
  const body = {
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    ...(description === undefined ? {} : { description }),
  };
  const { token, caHash, expiration, endpoints } = await client.change({
    method: "POST",
    path: "/cluster/tokens",
    body,
  });
  const [first] = (Array.isArray(endpoints) ? endpoints : []).filter((url) => typeof url === "string" && url !== "");
  const endpoint = typeof first === "string" ? first : client.url;
  const local = isLoopback(endpoint) ? await flagsBeside(client) : undefined;
  terminal.complain(
    local === undefined
      ? `run this on each new machine before ${expiration}, with the address where the others reach it:`
      : `run this on this machine before ${expiration}; other machines cannot reach the cluster at ${endpoint}:`,
  );
  const flags = local ?? { "peer-address": "<address>:7380" };
  terminal.print(joinCommand({ endpoint, token: String(token), caHash: String(caHash), flags }));
  return 0;
}

function isLoopback(url: string): boolean {
  return /^https:\/\/(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/.test(url);
}

function portOf({ port }: URL): number {
  return port === "" ? 443 : Number(port);
}

/** Returns the flags of another member on the machine of this cluster: its own name, ports and directory. */
async function flagsBeside(client: ClusterClient): Promise<Record<string, string>> {
  const members = parseMembers((await client.get("/cluster/members"))["members"]);
  const number = Math.max(...members.map(({ id }) => id)) + 1;
  const peers = members.map(({ peerAddress }) => new URL(`https://${peerAddress || "127.0.0.1:7379"}`));
  const apis = members.map(({ clientUrl }) => new URL(clientUrl || "https://127.0.0.1:6443"));
  const taken = new Set([
    ...apis.map(portOf),
    ...peers.flatMap((url) => [portOf(url), portOf(url) + gossipPortOffset]),
  ]);
  const above = (urls: readonly URL[], offset: number) => {
    let port = Math.max(...urls.map(portOf)) + 1;
    while (taken.has(port) || taken.has(port + offset)) port++;
    taken.add(port).add(port + offset);
    return String(port);
  };
  const { name } = members[0] ?? { name: "member" };
  return {
    "peer-address": `${peers[0]?.hostname}:${above(peers, gossipPortOffset)}`,
    "secure-port": above(apis, 0),
    "member-name": `${name}-${number}`,
    "data-dir": `${defaultDataDir(process.env)}-${number}`,
  };
}

/** Runs `quorate cluster token list`. It never prints secrets. */
export async function listTokens(client: ClusterClient, terminal: Terminal): Promise<number> {
  const { items } = await client.get("/cluster/tokens");
  const tokens = (Array.isArray(items) ? items : []).filter(isJsonObject);
  const rows = tokens.map(({ id, expiration, description }) =>
    [id, expiration, description].map((cell) => String(cell ?? "")),
  );
  for (const line of tableLines([["ID", "EXPIRES", "DESCRIPTION"], ...rows])) terminal.print(line);
  return 0;
}
