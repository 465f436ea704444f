import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";

const pattern = /^[0-9a-f]{32}$/;

/**
 * Returns the id that distinguishes this server from others with the same objects; 32 hexadecimal digits. It stays with
 * the data directory, which only one process uses at a time. A server in memory gets a new id each time.
 */
export async function openServerId(dataDir: string | undefined): Promise<string> {
  const fresh = randomBytes(16).toString("hex");
  if (dataDir === undefined) return fresh;
  const file = join(dataDir, "server-id");
  const known = (await readPrivateFile(file))?.trim();
  if (known !== undefined && pattern.test(known)) return known;
  await writePrivateFile(file, `${fresh}\n`);
  return fresh;
}

/** Returns the id of one of the server's serving processes, by its number. The same number has the same id again. */
export function servingProcessId(serverId: string, number: number): string {
  return createHash("sha256").update(`${serverId} ${number}`).digest("hex").slice(0, 32);
}
