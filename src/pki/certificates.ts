import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { StartupError } from "../config/startup-error.ts";
import { createAuthority, issueCertificate, type KeyPair, type LeafCertificate, type Validity } from "./authority.ts";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";

/** All that identifies this server and its administrator. */
export interface Certificates {
  readonly authority: KeyPair;
  readonly serving: KeyPair;
  /** Client certificate of kubernetes-admin in system:masters. */
  readonly admin: KeyPair;
  /** Bearer token of the same administrator. */
  readonly token: string;
  /** Private key that signs service account tokens, PEM. It stays: tokens outlive certificates. */
  readonly serviceAccountKey: string;
}

const dayMs = 24 * 3_600_000;
export const authorityLifetimeMs = 3_650 * dayMs;
export const leafLifetimeMs = 365 * dayMs;
/** A clock that is a little behind ours must accept a certificate made just now. */
const clockSkewMs = 5 * 60_000;
const tokenBytes = 32;
const authorityName = "quorate-ca";

export interface CertificateOptions {
  /** Where the pairs are kept; undefined keeps them in memory. */
  readonly directory: string | undefined;
  /** The address that the server listens on. */
  readonly bindAddress: string;
  readonly nowMs: number;
  /** In memory: what is in use now, to be kept as far as it is good. */
  readonly current?: Certificates;
}

/**
 * The pairs and the token from `directory`; what is missing, unreadable as a certificate, past two thirds of its life or
 * made for other names is made anew and written there.
 * @throws StartupError when a key file can be read by others or does not parse
 */
export async function openCertificates(options: CertificateOptions): Promise<Certificates> {
  const authority = await keptOrMade(options, "authority", (pair) => isFresh(pair, options.nowMs), makeAuthority);
  const signed = (pair: KeyPair) => isFresh(pair, options.nowMs) && isSignedBy(pair, authority);
  const names = servingNames(options.bindAddress);
  const [serving, admin, token, serviceAccountKey] = await Promise.all([
    keptOrMade(
      options,
      "serving",
      (pair) => signed(pair) && coversNames(pair, names),
      () => issueCertificate(authority, { ...servingLeaf(names), ...validity(options.nowMs, leafLifetimeMs) }),
    ),
    keptOrMade(options, "admin", signed, () =>
      issueCertificate(authority, { ...adminLeaf, ...validity(options.nowMs, leafLifetimeMs) }),
    ),
    openToken(options),
    openServiceAccountKey(options),
  ]);
  return { authority, serving, admin, token, serviceAccountKey };

  function makeAuthority(previous: KeyPair | undefined): KeyPair {
    const lifetime = validity(options.nowMs, authorityLifetimeMs);
    return createAuthority({ commonName: authorityName, ...lifetime, ...(previous && { key: previous.key }) });
  }
}

/** True until two thirds of the certificate's life are over; false also for what cannot be read. */
export function isFresh(pair: KeyPair, nowMs: number): boolean {
  const certificate = parse(pair.certificate);
  if (certificate === undefined) return false;
  const notBeforeMs = Date.parse(certificate.validFrom);
  const notAfterMs = Date.parse(certificate.validTo);
  return nowMs >= notBeforeMs && nowMs < notBeforeMs + ((notAfterMs - notBeforeMs) * 2) / 3;
}

type PairName = "authority" | "serving" | "admin";

const fileNames: Readonly<Record<PairName, string>> = { authority: "ca", serving: "serving", admin: "admin" };

type Make = (previous: KeyPair | undefined) => KeyPair;

async function keptOrMade(
  { directory, current }: CertificateOptions,
  name: PairName,
  isGood: (pair: KeyPair) => boolean,
  make: Make,
): Promise<KeyPair> {
  if (directory === undefined) {
    const used = current?.[name];
    return used !== undefined && isGood(used) ? used : make(used);
  }
  const certificatePath = join(directory, `${fileNames[name]}.crt`);
  const keyPath = join(directory, `${fileNames[name]}.key`);
  const [certificate, key] = await Promise.all([readPrivateFile(certificatePath), readPrivateFile(keyPath)]);
  const kept = key === undefined ? undefined : { certificate: certificate ?? "", key };
  if (kept !== undefined && belongTogether(kept) && isGood(kept)) return kept;
  const made = madeFrom(make, kept, keyPath);
  // The key first: a crash between the two leaves a pair that does not belong together, which is made anew.
  await writePrivateFile(keyPath, made.key);
  await writePrivateFile(certificatePath, made.certificate);
  return made;
}

function madeFrom(make: Make, kept: KeyPair | undefined, keyPath: string): KeyPair {
  try {
    return make(kept);
  } catch (error) {
    throw new StartupError(`${keyPath} cannot be used as a key: remove it to get a new one`, { cause: error });
  }
}

function openToken({ directory, current }: CertificateOptions): Promise<string> {
  const make = () => randomBytes(tokenBytes).toString("base64url");
  return keptSecret(directory, "token", current?.token, make);
}

function openServiceAccountKey({ directory, current }: CertificateOptions): Promise<string> {
  const make = () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    return (privateKey.export({ type: "pkcs8", format: "pem" }) as string).trim();
  };
  return keptSecret(directory, "sa.key", current?.serviceAccountKey, make);
}

/** A text of our own in a file, made the first time. */
async function keptSecret(
  directory: string | undefined,
  name: string,
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

interface Names {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** What clients on this machine, in this network and in a cluster call the server. */
export function servingNames(bindAddress: string): Names {
  const inCluster = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  const own = hostname().toLowerCase();
  const isWildcard = bindAddress === "0.0.0.0" || bindAddress === "::";
  const bound = isIP(bindAddress) !== 0 && !isWildcard ? [bindAddress] : [];
  const named = isIP(bindAddress) === 0 ? [bindAddress] : [];
  const dnsNames = ["localhost", ...inCluster, ...named, ...(isDnsName(own) ? [own] : [])];
  return { dnsNames: [...new Set(dnsNames)], ipAddresses: [...new Set(["127.0.0.1", "::1", ...bound])] };
}

function isDnsName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

function servingLeaf(names: Names): Omit<LeafCertificate, keyof Validity> {
  return { commonName: "quorate", organizations: [], usage: "server", ...names };
}

const adminLeaf: Omit<LeafCertificate, keyof Validity> = {
  commonName: "kubernetes-admin",
  organizations: ["system:masters"],
  usage: "client",
  dnsNames: [],
  ipAddresses: [],
};

function validity(nowMs: number, lifetimeMs: number): Validity {
  return { notBeforeMs: nowMs - clockSkewMs, notAfterMs: nowMs + lifetimeMs };
}

function coversNames({ certificate }: KeyPair, { dnsNames, ipAddresses }: Names): boolean {
  const parsed = parse(certificate);
  if (parsed === undefined) return false;
  return (
    dnsNames.every((name) => parsed.checkHost(name) !== undefined) &&
    ipAddresses.every((address) => parsed.checkIP(address) !== undefined)
  );
}

function isSignedBy(pair: KeyPair, authority: KeyPair): boolean {
  const issuer = parse(authority.certificate);
  return issuer !== undefined && parse(pair.certificate)?.verify(issuer.publicKey) === true;
}

function belongTogether({ certificate, key }: KeyPair): boolean {
  const parsed = parse(certificate);
  if (parsed === undefined) return false;
  try {
    return parsed.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
