import { join } from "node:path";
import { isJsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import type { KeyPair } from "./authority.ts";
import { serviceAccountKeyFile, tokenFile } from "./certificates.ts";
import { belongTogether, writePair } from "./kept-pair.ts";
import { writePrivateFile } from "./private-file.ts";
import { apiAuthority, peerAuthority, type RotatingAuthority, writeAuthority } from "./rotating-authority.ts";

/**
 * The secrets that all replicas of a cluster share, and that a new one receives. Every replica then has the same
 * authority, in the same phase of a rotation, the same administrator and the same service accounts.
 */
export interface SharedSecrets extends RotatingAuthority {
  /** Authority that signs members. */
  readonly peerAuthority: KeyPair;
  /** Key that signs service account tokens, PEM. */
  readonly serviceAccountKey: string;
  /** Administrator's bearer token. */
  readonly token: string;
}

/** Parses the secrets. @throws Error that names the missing or mismatched part */
export function parseSharedSecrets(value: JsonValue | undefined): SharedSecrets {
  const { authority, next, nextIssues, former, peerAuthority, serviceAccountKey, token } = isJsonObject(value)
    ? value
    : {};
  return {
    authority: parsePair("authority", authority),
    next: next === undefined ? undefined : parsePair("next", next),
    nextIssues: nextIssues === true,
    former: former === undefined ? undefined : parseText("former", former),
    peerAuthority: parsePair("peerAuthority", peerAuthority),
    serviceAccountKey: parseText("serviceAccountKey", serviceAccountKey),
    token: parseText("token", token),
  };
}

function parsePair(name: string, value: JsonValue | undefined): KeyPair {
  const { certificate, key } = objectOf(value);
  const pair = { certificate: parseText(`${name}.certificate`, certificate), key: parseText(`${name}.key`, key) };
  if (!belongTogether(pair)) throw new Error(`certificate and key of ${name} do not belong together`);
  return pair;
}

function parseText(name: string, value: JsonValue | undefined): string {
  if (typeof value !== "string" || value === "") throw new Error(`${name} is missing`);
  return value;
}

/** Writes the files that a replica opens at its start. Repeating this after a crash is harmless. */
export async function writeSharedSecrets(directory: string, secrets: SharedSecrets): Promise<void> {
  await writeAuthority(directory, apiAuthority, secrets);
  await writePair({ directory, name: peerAuthority.file }, secrets.peerAuthority);
  await writePrivateFile(join(directory, serviceAccountKeyFile), `${secrets.serviceAccountKey.trim()}\n`);
  await writePrivateFile(join(directory, tokenFile), `${secrets.token}\n`);
}
