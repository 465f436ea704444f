import { existsSync } from "node:fs";
import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import { resolveOptions, type ServerOptions } from "../../server/config/server-options.ts";
import type { Terminal } from "../terminal.ts";
import { up } from "../up.ts";

/** Runs `quorate cluster init`: starts the first member. Later starts use `quorate up` and the same flags. */
export async function initCluster(options: ServerOptions, terminal: Terminal): Promise<number> {
  newMemberDirectory(options);
  terminal.complain('starting a new cluster; invite other machines with "quorate cluster token create"');
  return up(options, terminal);
}

/**
 * Returns the data directory of a new replica.
 * @throws StartupError when the other members could not reach the replica, or the directory already holds one
 */
export function newMemberDirectory(options: ServerOptions): string {
  const { membership, dataDir } = resolveOptions(options);
  if (dataDir === undefined) throw new StartupError("a member of a cluster keeps its data on disk: omit --in-memory");
  if (membership.peerAddress === undefined) {
    throw new StartupError(
      "--peer-address: give the address where the other members reach this machine, such as 10.0.0.1:7380",
    );
  }
  if (existsSync(join(dataDir, "identity.json"))) {
    throw new StartupError(
      `${dataDir} already holds a replica: run it with "quorate up", or choose another --data-dir`,
    );
  }
  return dataDir;
}
