import { createPrivateKey, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import type { KeyPair, Validity } from "./authority.ts";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";

const dayMs = 24 * 3_600_000;
export const authorityLifetimeMs = 3_650 * dayMs;
export const leafLifetimeMs = 365 * dayMs;
/** A clock that is a little behind ours must accept a certificate made just now. */
const clockSkewMs = 5 * 60_000;

export function validity(nowMs: number, lifetimeMs: number): Validity {
  return { notBeforeMs: nowMs - clockSkewMs, notAfterMs: nowMs + lifetimeMs };
}

/** Where a pair or a text is kept. */
export interface Place {
  /** Undefined: in memory only. */
  readonly directory: string | undefined;
  /** Without its ending: `<name>.crt` and `<name>.key` are the two of a pair. */
  readonly name: string;
}

export interface PairKeeping extends Place {
  /** In memory: what is in use now, to be kept as far as it is good. */
  readonly current: KeyPair | undefined;
  isGood(pair: KeyPair): boolean;
  /** @param previous the pair that is not good any more, if its two parts can be read */
  make(previous: KeyPair | undefined): KeyPair;
}

/**
 * The pair that is kept; where there is none, or it is not good, a new one that is kept from then on.
 * @throws StartupError when a key file can be read by others or does not parse
 */
export async function keepPair({ directory, name, current, isGood, make }: PairKeeping): Promise<KeyPair> {
  if (directory === undefined) return current !== undefined && isGood(current) ? current : make(current);
  const kept = await readPair({ directory, name });
  if (kept !== undefined && belongTogether(kept) && isGood(kept)) return kept;
  const made = madeFrom(make, kept, join(directory, `${name}.key`));
  await writePair({ directory, name }, made);
  return made;
}

/** Undefined when there is no key. A certificate that is missing is empty. */
export async function readPair({ directory, name }: Place & { directory: string }): Promise<KeyPair | undefined> {
  const [certificate, key] = await Promise.all([
    readPrivateFile(join(directory, `${name}.crt`)),
    readPrivateFile(join(directory, `${name}.key`)),
  ]);
  return key === undefined ? undefined : { certificate: certificate ?? "", key };
}

/** The key first: a crash between the two leaves a pair that does not belong together, which is made anew. */
export async function writePair({ directory, name }: Place & { directory: string }, pair: KeyPair): Promise<void> {
  await writePrivateFile(join(directory, `${name}.key`), pair.key);
  await writePrivateFile(join(directory, `${name}.crt`), pair.certificate);
}

/** A text of our own in a file, made the first time. */
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

/** True until two thirds of the certificate's life are over; false also for what cannot be read. */
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

/** Undefined for what is no certificate. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
