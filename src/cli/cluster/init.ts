import { existsSync } from "node:fs";
import { join } from "node:path";
import { resolveOptions, type ServerOptions } from "../../server/config/server-options.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { Terminal } from "../terminal.ts";
import { up } from "../up.ts";

/** `quorate cluster init`: the first member. From then on it is started with `quorate up` and the same flags. */
export async function initCluster(options: ServerOptions, terminal: Terminal): Promise<number> {
  newMemberDirectory(options);
  terminal.complain('a new cluster begins here; invite other machines with "quorate cluster token create"');
  return up(options, terminal);
}

/**
 * The directory of a replica that there is none of yet.
 * @throws StartupError when others could not reach it, or there is one
 */
export function newMemberDirectory(options: ServerOptions): string {
  const { membership, dataDir } = resolveOptions(options);
  if (dataDir === undefined)
    throw new StartupError("a member of a cluster keeps its data on disk: leave --in-memory out");
  if (membership.peerAddress === undefined) {
    throw new StartupError("--peer-address: say where the other members reach this machine, such as 10.0.0.1:7380");
  }
  if (existsSync(join(dataDir, "identity.json"))) {
    throw new StartupError(
      `${dataDir} holds a replica already: run it with "quorate up", or choose another --data-dir`,
    );
  }
  return dataDir;
}
