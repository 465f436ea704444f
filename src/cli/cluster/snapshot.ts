import { createReadStream, existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { connectionFailureText } from "../../client/connection-failure.ts";
import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { StartupError } from "../../process/startup-error.ts";
import { syncDirectory } from "../../storage/mvcc/data-directory.ts";
import type { ImageHeader } from "../../storage/mvcc/image.ts";
import { inspectImage, restoreReplica } from "../../storage/replicated/restore-replica.ts";
import { tableLines } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import { bytesText } from "./status.ts";

const progressIntervalMs = 1_000;

/** Runs `quorate snapshot save`. The file gets its name once it is complete, checked and on disk. */
export async function saveSnapshot(client: ClusterClient, file: string, terminal: Terminal): Promise<number> {
  const path = resolve(file);
  if (existsSync(path)) throw new StartupError(`${path} already exists: choose another name`);
  const chunks = await client.download("/cluster/snapshot");
  const unfinished = `${path}.unfinished`;
  try {
    await write(unfinished, withProgress(chunks, "received", terminal));
    const header = await readHeader(unfinished);
    await rename(unfinished, path);
    await syncDirectory(dirname(path));
    terminal.print(`${path}: ${summary(header)}`);
    return 0;
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Runs `quorate snapshot inspect`. */
export async function inspectSnapshot(file: string, output: "table" | "json", terminal: Terminal): Promise<number> {
  const { clusterId, record } = await readHeader(file);
  const { index, revision, compactedRevision, size, members } = record;
  if (output === "json") {
    terminal.print(JSON.stringify({ clusterId, index, revision, compactedRevision, objects: size, members }, null, 2));
    return 0;
  }
  const rows = [
    ["Cluster:", clusterId],
    ["Revision:", `${revision}, compacted up to ${compactedRevision}, log index ${index}`],
    ["Objects:", String(size)],
    ["Members:", members.map(({ id, name }) => `${id} (${name})`).join(", ") || "-"],
    ["Checked:", "complete and undamaged"],
  ];
  for (const line of tableLines(rows)) terminal.print(line);
  return 0;
}

export interface RestoreOptions {
  readonly directory: string;
  readonly revisionGap: number;
}

/** Runs `quorate snapshot restore`: makes a new cluster with one member. */
export async function restoreSnapshot(file: string, options: RestoreOptions, terminal: Terminal): Promise<number> {
  // Check the file first, so that a damaged file leaves no data directory behind.
  await readHeader(file);
  const chunks = withProgress(createReadStream(file), "restored", terminal);
  const { revision, objects } = await restoreReplica({ ...options, chunks });
  terminal.print(`${options.directory}: a new cluster with ${objects} objects, at revision ${revision}`);
  terminal.complain(
    `it will make its own certificates and keys; to keep those of a former member, copy its pki directory to ${options.directory} before the first start`,
  );
  return 0;
}

async function write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, "w", 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`${path} cannot be written (${error.code}): choose another path`);
  });
  try {
    for await (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } catch (error) {
    throw new StartupError(`the snapshot was interrupted: ${connectionFailureText(error)}`);
  } finally {
    await file.close();
  }
}

async function readHeader(file: string): Promise<ImageHeader> {
  try {
    return await inspectImage(createReadStream(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new StartupError(`${file} does not exist: check the path`);
    throw new StartupError(`${file} cannot be used: ${code ?? message}`);
  }
}

async function* withProgress(
  chunks: AsyncIterable<Uint8Array>,
  verb: string,
  terminal: Terminal,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let toldMs = performance.now();
  for await (const chunk of chunks) {
    yield chunk;
    bytes += chunk.length;
    if (performance.now() - toldMs < progressIntervalMs) continue;
    toldMs = performance.now();
    terminal.complain(`${verb} ${bytesText(bytes)}`);
  }
}

function summary({ record }: ImageHeader): string {
  return `${record.size} objects at revision ${record.revision}, complete and undamaged`;
}
