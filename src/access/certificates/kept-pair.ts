import { createPrivateKey, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import type { KeyPair, Validity } from "./authority.ts";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";

const dayMs = 24 * 3_600_000;
export const authorityLifetimeMs = 3_650 * dayMs;
export const leafLifetimeMs = 365 * dayMs;
/** Clock difference to allow for, so that a client with a slow clock accepts a new certificate. */
const clockSkewMs = 5 * 60_000;

export function validity(nowMs: number, lifetimeMs: number): Validity {
  return { notBeforeMs: nowMs - clockSkewMs, notAfterMs: nowMs + lifetimeMs };
}

/** The place of a pair or a text. */
export interface Place {
  /** Directory; undefined for memory only. */
  readonly directory: string | undefined;
  /** Name without extension. The files of a pair are `<name>.crt` and `<name>.key`. */
  readonly name: string;
}

export interface PairKeeping extends Place {
  /** The current pair, if it is in memory. It is kept while it is good. */
  readonly current: KeyPair | undefined;
  isGood(pair: KeyPair): boolean;
  /** @param previous the pair that is no longer good, if both parts are readable */
  make(previous: KeyPair | undefined): KeyPair;
}

/**
 * Returns the kept pair. If it is missing or not good, creates and keeps a new one.
 * @throws StartupError if others can read a key file, or if it does not parse
 */
export async function keepPair({ directory, name, current, isGood, make }: PairKeeping): Promise<KeyPair> {
  if (directory === undefined) return current !== undefined && isGood(current) ? current : make(current);
  const kept = await readPair({ directory, name });
  if (kept !== undefined && belongTogether(kept) && isGood(kept)) return kept;
  const made = madeFrom(make, kept, join(directory, `${name}.key`));
  await writePair({ directory, name }, made);
  return made;
}

/** Reads a pair. Returns undefined without a key. A missing certificate is empty. */
export async function readPair({ directory, name }: Place & { directory: string }): Promise<KeyPair | undefined> {
  const [certificate, key] = await Promise.all([
    readPrivateFile(join(directory, `${name}.crt`)),
    readPrivateFile(join(directory, `${name}.key`)),
  ]);
  return key === undefined ? undefined : { certificate: certificate ?? "", key };
}

/** Writes a pair, the key first. A crash between the two leaves a mismatched pair, which is replaced. */
export async function writePair({ directory, name }: Place & { directory: string }, pair: KeyPair): Promise<void> {
  await writePrivateFile(join(directory, `${name}.key`), pair.key);
  await writePrivateFile(join(directory, `${name}.crt`), pair.certificate);
}

/** Returns the text of a file, created the first time. */
export async function keepText(
  { directory, name }: Place,
  current: string | undefined,
  make: () => string,
): Promise<string> {
  if (directory === undefined) return current ?? make();
  const path = join(directory, name);
  const kept = (await readPrivateFile(path))?.trim();
  if (kept !== undefined && kept !== "") return kept;
  const made = make();
  await writePrivateFile(path, `${made}\n`);
  return made;
}

function madeFrom(make: PairKeeping["make"], kept: KeyPair | undefined, keyPath: string): KeyPair {
  try {
    return make(kept);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`${keyPath} cannot be used as a key: remove it to get a new one`, { cause: error });
  }
}

/** Reports whether a certificate is within the first two thirds of its life. An unreadable one is not. */
export function isFresh(pair: KeyPair, nowMs: number): boolean {
  const certificate = parseCertificate(pair.certificate);
  if (certificate === undefined) return false;
  const notBeforeMs = Date.parse(certificate.validFrom);
  const notAfterMs = Date.parse(certificate.validTo);
  return nowMs >= notBeforeMs && nowMs < notBeforeMs + ((notAfterMs - notBeforeMs) * 2) / 3;
}

export function isSignedBy(pair: KeyPair, authority: KeyPair): boolean {
  const issuer = parseCertificate(authority.certificate);
  return issuer !== undefined && parseCertificate(pair.certificate)?.verify(issuer.publicKey) === true;
}

export function belongTogether({ certificate, key }: KeyPair): boolean {
  const parsed = parseCertificate(certificate);
  if (parsed === undefined) return false;
  try {
    return parsed.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Parses a certificate, or returns undefined. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
