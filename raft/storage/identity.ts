import { crc32 } from "node:zlib";
import { type MemberId, toMemberId } from "../core/ids.ts";
import { type Disk, readSmallFile, replaceFile } from "./disk.ts";
import { LogError, rejoinAdvice } from "./log-error.ts";
import { logFormat } from "./segment.ts";

/** The owner of a log. */
export interface Owner {
  readonly clusterId: string;
  readonly memberId: MemberId;
}

export interface Identity extends Owner {
  /**
   * A random id drawn when the log was created. It salts the checksums, so that bytes of another log are never accepted.
   */
  readonly logId: string;
}

const identityFile = "identity";
const identityBytesMax = 4096;

/** Reads the identity. Returns undefined if none exists. @throws LogError if it is damaged or of another format */
export function readIdentity(disk: Disk): Identity | undefined {
  const bytes = readSmallFile(disk, identityFile, identityBytesMax);
  return bytes === undefined ? undefined : parseIdentity(new TextDecoder().decode(bytes), disk.directory);
}

export async function writeIdentity(disk: Disk, identity: Identity): Promise<void> {
  const { clusterId, memberId, logId } = identity;
  const body = JSON.stringify({ format: logFormat, clusterId, memberId, logId });
  await replaceFile(disk, identityFile, new TextEncoder().encode(`${body}\n${checksum(body)}\n`));
}

/** Checks the owner. @throws LogError `foreign` if the log belongs to another member */
export function checkOwner(identity: Identity, expected: Owner, directory: string): void {
  const advice = "start the member that it belongs to, or give this one its own directory";
  const details = { directory, file: identityFile };
  if (identity.clusterId !== expected.clusterId) {
    const problem = `the log belongs to cluster ${identity.clusterId}, not ${expected.clusterId}`;
    throw new LogError("foreign", problem, advice, details);
  }
  if (identity.memberId !== expected.memberId) {
    const problem = `the log belongs to member ${identity.memberId}, not ${expected.memberId}`;
    throw new LogError("foreign", problem, advice, details);
  }
}

function parseIdentity(text: string, directory: string): Identity {
  const [body = "", sum] = text.split("\n");
  if (sum !== checksum(body)) {
    throw new LogError("damaged", "the identity of the log is damaged", rejoinAdvice, {
      directory,
      file: identityFile,
    });
  }
  const { format, clusterId, memberId, logId } = JSON.parse(body) as Record<string, unknown>;
  if (format !== logFormat) {
    const problem = `the log has format ${String(format)}, this version reads ${logFormat}`;
    throw new LogError("unsupported", problem, "start the version that wrote it", { directory, file: identityFile });
  }
  return {
    clusterId: String(clusterId),
    memberId: toMemberId(Number(memberId)),
    logId: String(logId),
  };
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(8, "0");
}
