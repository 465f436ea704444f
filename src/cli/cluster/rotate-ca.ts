import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { rotatePeerAuthority } from "../../cluster/rotate-peer-authority.ts";
import type { Terminal } from "../terminal.ts";

/** `quorate cluster rotate-ca` */
export async function rotateCa(client: ClusterClient, terminal: Terminal): Promise<number> {
  const hash = await rotatePeerAuthority(client, (text) => terminal.complain(text));
  terminal.print(`the members know each other by a new authority: ${hash}`);
  return 0;
}
