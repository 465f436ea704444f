import { resolve } from "node:path";
import { recoverReplica } from "../../storage/replicated/recover-replica.ts";
import type { Terminal } from "../terminal.ts";

/** `quorate cluster recover`: offline, on the data directory of the member that is left. */
export async function recoverCluster(directory: string, terminal: Terminal): Promise<number> {
  const path = resolve(directory);
  const { self, forgotten } = await recoverReplica(path);
  const others = forgotten.length === 0 ? "there was no other" : `forgotten: ${forgotten.join(", ")}`;
  terminal.print(`member ${self} is the only one of its cluster now; ${others}`);
  terminal.complain(
    `start it with "quorate up"; never start the others again, but let their machines join with empty directories`,
  );
  return 0;
}
