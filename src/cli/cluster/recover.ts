import { resolve } from "node:path";
import type { MemberRecord } from "../../storage/cluster.ts";
import { recoverReplica } from "../../storage/replicated/recover-replica.ts";
import { shellWord } from "../shell-word.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `quorate cluster recover` on the data directory of the remaining member, which must be stopped. */
export async function recoverCluster(directory: string, terminal: Terminal): Promise<number> {
  const path = resolve(directory);
  const { self, forgotten, record } = await recoverReplica(path);
  const others = forgotten.length === 0 ? "there were no other members" : `forgotten: ${forgotten.join(", ")}`;
  terminal.print(`member ${self} is now the only member of its cluster; ${others}`);
  terminal.complain("never start the others again; to reuse their machines, join them with empty directories");
  terminal.complain("start it with this command, plus the other flags that it had before:");
  terminal.print(startCommand(path, record));
  return 0;
}

/** Returns the command that starts the member at the address that the cluster has recorded. */
function startCommand(directory: string, record: MemberRecord | undefined): string {
  const flags: [name: string, value: string][] = [["data-dir", directory]];
  if (record !== undefined) {
    const { name, peerAddress, clientUrl } = record;
    flags.push(["member-name", name]);
    if (peerAddress !== "") flags.push(["peer-address", peerAddress], ...portFlags(peerAddress, clientUrl));
  }
  return ["quorate up", ...flags.map(([name, value]) => `--${name} ${shellWord(value)}`)].join(" ");
}

/** Returns flags for the member's URL, unless it follows from the peer address. */
function portFlags(peerAddress: string, clientUrl: string): [name: string, value: string][] {
  if (!URL.canParse(clientUrl)) return [];
  const { hostname, port } = new URL(clientUrl);
  const isBeside = hostname === new URL(`https://${peerAddress}`).hostname;
  return [
    ["secure-port", port === "" ? "443" : port],
    ...(isBeside ? [] : [["advertise-client-url", clientUrl] as [string, string]]),
  ];
}
