import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import { issueCertificate, type KeyPair, type LeafCertificate, type Validity } from "./authority.ts";
import { isFresh, isSignedBy, keepPair, keepText, leafLifetimeMs, parseCertificate, validity } from "./kept-pair.ts";
import { apiAuthority, issuerOf, openAuthority, type RotatingAuthority } from "./rotating-authority.ts";

/** The credentials of this server and its administrator. */
export interface Certificates extends RotatingAuthority {
  readonly serving: KeyPair;
  /** Client certificate of kubernetes-admin in system:masters. */
  readonly admin: KeyPair;
  /** Bearer token of the same administrator. */
  readonly token: string;
  /** PEM of the private key that signs service account tokens. It never changes, because tokens outlive certificates. */
  readonly serviceAccountKey: string;
}

const tokenBytes = 32;
/** Minimum length of a token. Shorter tokens can be guessed, so a file with one is damaged. */
const tokenLengthMin = 16;
export const tokenFile = "token";
export const serviceAccountKeyFile = "sa.key";

export interface CertificateOptions {
  /** Directory of the pairs; undefined to keep them in memory. */
  readonly directory: string | undefined;
  /** The address on which the server listens. */
  readonly bindAddress: string;
  /** Further names and addresses of the server. */
  readonly hosts?: readonly string[];
  readonly nowMs: number;
  /** The current certificates, if they are in memory. They are kept while they are good. */
  readonly current?: Certificates | undefined;
}

/**
 * Opens the pairs and the token from `directory`. Parts that are missing, invalid, past two thirds of their life or
 * made for other names are created and written there.
 * @throws StartupError if others can read a key file, if it does not parse, or if it was lost since an earlier start
 */
export async function openCertificates(options: CertificateOptions): Promise<Certificates> {
  const { directory, current, nowMs } = options;
  if (directory !== undefined) refuseLostKeys(directory);
  // Checked before the certificates, whose presence shows that this key existed.
  const serviceAccountKey = await openServiceAccountKey(options);
  const rotating = await openAuthority({ kind: apiAuthority, directory, nowMs, current });
  const names = servingNames(options.bindAddress, options.hosts);
  const keepSigned = (
    name: "serving" | "admin",
    signer: KeyPair,
    leaf: Omit<LeafCertificate, keyof Validity>,
    isGood: (pair: KeyPair) => boolean = () => true,
  ) =>
    keepPair({
      directory,
      name,
      current: current?.[name],
      isGood: (pair) => isFresh(pair, nowMs) && isSignedBy(pair, signer) && isGood(pair),
      make: () => issueCertificate(signer, { ...leaf, ...validity(nowMs, leafLifetimeMs) }),
    });
  const [serving, admin, token] = await Promise.all([
    keepSigned("serving", rotating.authority, servingLeaf(names), (pair) => coversNames(pair, names)),
    keepSigned("admin", issuerOf(rotating), adminLeaf),
    openToken(options),
  ]);
  return { ...rotating, serving, admin, token, serviceAccountKey };
}

/** Keys that no certificate can replace: with new ones, existing clients and service account tokens would be rejected. */
function refuseLostKeys(directory: string): void {
  const has = (name: string) => existsSync(join(directory, name));
  if (!has("serving.crt") && !has("admin.crt")) return;
  const lost = [`${apiAuthority.file}.key`, serviceAccountKeyFile].find((name) => !has(name));
  if (lost === undefined) return;
  throw new StartupError(
    `${join(directory, lost)} is missing, but an earlier start made it: restore it from a backup or from another member. To start with new keys, remove ${directory}. That invalidates all kubeconfigs and service account tokens`,
  );
}

async function openToken({ directory, current }: CertificateOptions): Promise<string> {
  const make = () => randomBytes(tokenBytes).toString("base64url");
  const token = await keepText({ directory, name: tokenFile }, current?.token, make);
  if (token.length >= tokenLengthMin) return token;
  const path = join(directory ?? "", tokenFile);
  throw new StartupError(
    `${path} contains a token with fewer than ${tokenLengthMin} characters: remove the file to get a new one`,
  );
}

function openServiceAccountKey({ directory, current }: CertificateOptions): Promise<string> {
  const make = () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    return (privateKey.export({ type: "pkcs8", format: "pem" }) as string).trim();
  };
  return keepText({ directory, name: serviceAccountKeyFile }, current?.serviceAccountKey, make);
}

interface Names {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Returns the names of the server for clients on this machine, in this network and in a cluster. */
export function servingNames(bindAddress: string, hosts: readonly string[] = []): Names {
  const inCluster = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  const own = hostname().toLowerCase();
  const isWildcard = bindAddress === "0.0.0.0" || bindAddress === "::";
  const given = [...(isWildcard ? [] : [bindAddress]), ...hosts];
  const dnsNames = [
    "localhost",
    ...inCluster,
    ...given.filter((host) => isIP(host) === 0),
    ...(isDnsName(own) ? [own] : []),
  ];
  const ipAddresses = ["127.0.0.1", "::1", ...given.filter((host) => isIP(host) !== 0)];
  return { dnsNames: [...new Set(dnsNames)], ipAddresses: [...new Set(ipAddresses)] };
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

function coversNames({ certificate }: KeyPair, { dnsNames, ipAddresses }: Names): boolean {
  const parsed = parseCertificate(certificate);
  if (parsed === undefined) return false;
  return (
    dnsNames.every((name) => parsed.checkHost(name) !== undefined) &&
    ipAddresses.every((address) => parsed.checkIP(address) !== undefined)
  );
}
