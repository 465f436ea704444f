import { resolve } from "node:path";
import { recoverReplica } from "../../storage/replicated/recover-replica.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `quorate cluster recover` on the data directory of the remaining member, which is stopped. */
export async function recoverCluster(directory: string, terminal: Terminal): Promise<number> {
  const path = resolve(directory);
  const { self, forgotten } = await recoverReplica(path);
  const others = forgotten.length === 0 ? "there were no others" : `forgotten: ${forgotten.join(", ")}`;
  terminal.print(`member ${self} is now the only member of its cluster; ${others}`);
  terminal.complain(
    `start it with "quorate up"; never start the others again: their machines can join with empty directories`,
  );
  return 0;
}
