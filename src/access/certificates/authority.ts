import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIPv4 } from "node:net";
import * as der from "./der.ts";

/** A certificate and its private key, both PEM (the key as PKCS #8). */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Period of validity in milliseconds since the epoch. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface LeafCertificate extends Validity {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The usage. A peer both accepts and makes connections. */
  readonly usage: "server" | "client" | "peer";
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const serialNumberBytes = 16;
const oid = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  organization: "2.5.4.10",
  commonName: "2.5.4.3",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  extensionRequest: "1.2.840.113549.1.9.14",
  server: "1.3.6.1.5.5.7.3.1",
  client: "1.3.6.1.5.5.7.3.2",
} as const;

/** Key usage bits of RFC 5280, 4.2.1.3, where bit 0 is the highest. */
const keyUsage = {
  authority: der.bitString(Uint8Array.of(0b1000_0110), 1),
  leaf: der.bitString(Uint8Array.of(0b1000_0000), 7),
} as const;

/**
 * Creates a self-signed certificate authority that may sign leaf certificates only.
 * @param key PEM of the key to keep, so that certificates it signed stay trusted; a new one when absent
 * @throws if the key is unreadable or not on P-256
 */
export function createAuthority({
  commonName,
  key,
  ...validity
}: Validity & { commonName: string; key?: string }): KeyPair {
  const privateKey = key === undefined ? newKey() : readKey(key);
  const name = nameOf([[oid.commonName, commonName]]);
  const extensions = [
    extension(oid.basicConstraints, der.sequence(der.boolean(true), der.integer(Uint8Array.of(0))), { critical: true }),
    extension(oid.keyUsage, keyUsage.authority, { critical: true }),
    extension(oid.subjectKeyIdentifier, der.octetString(keyIdentifier(privateKey))),
  ];
  const certificate = signed(
    { issuer: name, subject: name, validity, publicKeyInfo: publicKeyInfo(privateKey), extensions },
    privateKey,
  );
  return { certificate, key: exportKey(privateKey) };
}

/**
 * Issues a leaf certificate with a new key, signed by the authority.
 * @throws if the authority's key is unreadable or not on P-256
 */
export function issueCertificate(authority: KeyPair, leaf: LeafCertificate): KeyPair {
  const issuerKey = readKey(authority.key);
  const privateKey = newKey();
  const organizations = leaf.organizations.map((name) => [oid.organization, name] as const);
  const extensions = [
    extension(oid.basicConstraints, der.sequence(), { critical: true }),
    extension(oid.keyUsage, keyUsage.leaf, { critical: true }),
    extension(oid.extendedKeyUsage, der.sequence(...purposesOf(leaf.usage).map((use) => der.objectIdentifier(use)))),
    extension(oid.authorityKeyIdentifier, der.sequence(der.element(0x80, keyIdentifier(issuerKey)))),
    ...alternativeNames(leaf),
  ];
  const subject = nameOf([...organizations, [oid.commonName, leaf.commonName]]);
  const issuer = subjectOf(authority.certificate);
  const certificate = signed(
    { issuer, subject, validity: leaf, publicKeyInfo: publicKeyInfo(privateKey), extensions },
    issuerKey,
  );
  return { certificate, key: exportKey(privateKey) };
}

/** The contents of a request for a certificate. */
export interface RequestedNames extends Pick<LeafCertificate, "commonName" | "organizations"> {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** PEM of the key; a new one by default. */
  readonly key?: string | undefined;
}

/**
 * Returns a request for a certificate, and its key, as PEM.
 * @throws if the key is unreadable or not on P-256
 */
export function createRequest({ commonName, organizations, dnsNames = [], ipAddresses = [], key }: RequestedNames): {
  readonly request: string;
  readonly key: string;
} {
  const privateKey = key === undefined ? newKey() : readKey(key);
  const subject = nameOf([
    ...organizations.map((name) => [oid.organization, name] as const),
    [oid.commonName, commonName],
  ]);
  const version = der.integer(Uint8Array.of(0));
  const extensions = alternativeNames({ dnsNames, ipAddresses });
  const attributes =
    extensions.length === 0
      ? []
      : [der.sequence(der.objectIdentifier(oid.extensionRequest), der.set(der.sequence(...extensions)))];
  const info = der.sequence(version, subject, publicKeyInfo(privateKey), der.element(0xa0, ...attributes));
  const algorithm = der.sequence(der.objectIdentifier(oid.ecdsaWithSha256));
  const signature = der.bitString(sign("sha256", info, privateKey));
  return { request: pem("CERTIFICATE REQUEST", der.sequence(info, algorithm, signature)), key: exportKey(privateKey) };
}

function purposesOf(usage: LeafCertificate["usage"]): string[] {
  return usage === "peer" ? [oid.server, oid.client] : [oid[usage]];
}

/** A certificate for a key that another party holds. Names and key are DER from the request. */
export interface RequestedCertificate extends Validity {
  readonly subject: Uint8Array;
  readonly publicKeyInfo: Uint8Array;
  readonly alternativeNames: Uint8Array | undefined;
  readonly usages: ReadonlySet<SignedUsage>;
}
export type SignedUsage = "digital signature" | "key encipherment" | "client auth" | "server auth";

/**
 * Signs a leaf certificate, as PEM, for a requested name and key.
 * @throws if the authority's key is unreadable or not on P-256
 */
export function signRequest(authority: KeyPair, request: RequestedCertificate): string {
  const issuerKey = readKey(authority.key);
  const { usages, alternativeNames } = request;
  const purposes = (["client", "server"] as const).filter((purpose) => usages.has(`${purpose} auth`));
  const bits = (usages.has("digital signature") ? 0b1000_0000 : 0) | (usages.has("key encipherment") ? 0b0010_0000 : 0);
  const unusedBits = usages.has("key encipherment") ? 5 : 7;
  const extensions = [
    extension(oid.basicConstraints, der.sequence(), { critical: true }),
    // The extension without any bits would allow no use of the key.
    ...(bits === 0
      ? []
      : [extension(oid.keyUsage, der.bitString(Uint8Array.of(bits), unusedBits), { critical: true })]),
    extension(oid.extendedKeyUsage, der.sequence(...purposes.map((purpose) => der.objectIdentifier(oid[purpose])))),
    extension(oid.authorityKeyIdentifier, der.sequence(der.element(0x80, keyIdentifier(issuerKey)))),
    ...(alternativeNames === undefined ? [] : [extension(oid.subjectAltName, alternativeNames)]),
  ];
  const issuer = subjectOf(authority.certificate);
  const { subject, publicKeyInfo: info } = request;
  return signed({ issuer, subject, validity: request, publicKeyInfo: info, extensions }, issuerKey);
}

interface Unsigned {
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly validity: Validity;
  readonly publicKeyInfo: Uint8Array;
  readonly extensions: readonly Uint8Array[];
}

/** Returns the signed certificate of RFC 5280, 4.1: contents, algorithm and signature. */
function signed(
  { issuer, subject, validity, publicKeyInfo: keyInfo, extensions }: Unsigned,
  issuerKey: KeyObject,
): string {
  const version3 = der.element(0xa0, der.integer(Uint8Array.of(2)));
  const algorithm = der.sequence(der.objectIdentifier(oid.ecdsaWithSha256));
  const unsigned = der.sequence(
    version3,
    der.integer(newSerialNumber()),
    algorithm,
    issuer,
    der.sequence(der.time(validity.notBeforeMs), der.time(validity.notAfterMs)),
    subject,
    keyInfo,
    der.element(0xa3, der.sequence(...extensions)),
  );
  const signature = sign("sha256", unsigned, issuerKey);
  return pem("CERTIFICATE", der.sequence(unsigned, algorithm, der.bitString(signature)));
}

function nameOf(attributes: readonly (readonly [type: string, value: string])[]): Uint8Array {
  return der.sequence(
    ...attributes.map(([type, value]) => der.set(der.sequence(der.objectIdentifier(type), der.utf8String(value)))),
  );
}

/** Returns the subject unchanged, because clients compare names byte for byte. */
function subjectOf(certificate: string): Uint8Array {
  const [unsigned = new Uint8Array()] = der.children(new X509Certificate(certificate).raw);
  const subject = der.children(unsigned)[5];
  if (subject === undefined) throw new RangeError("the certificate has no subject");
  return subject;
}

function extension(type: string, value: Uint8Array, { critical = false } = {}): Uint8Array {
  return der.sequence(der.objectIdentifier(type), ...(critical ? [der.boolean(true)] : []), der.octetString(value));
}

function alternativeNames({ dnsNames, ipAddresses }: Pick<LeafCertificate, "dnsNames" | "ipAddresses">): Uint8Array[] {
  const names = [
    ...dnsNames.map((name) => der.element(0x82, Buffer.from(name, "ascii"))),
    ...ipAddresses.map((address) => der.element(0x87, addressBytes(address))),
  ];
  return names.length === 0 ? [] : [extension(oid.subjectAltName, der.sequence(...names))];
}

function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split("."), Number);
  const [plain = ""] = address.split("%");
  // The URL parser converts every spelling to hexadecimal groups with at most one gap.
  const [head = "", tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Uint8Array.from([...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

function readKey(text: string): KeyObject {
  const key = createPrivateKey(text);
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (curve !== "prime256v1" && curve !== "P-256") throw new TypeError("the key is not on the curve P-256");
  return key;
}

function publicKeyInfo(key: KeyObject): Uint8Array {
  return createPublicKey(key).export({ type: "spki", format: "der" });
}

/**
 * Returns the key identifier of RFC 5280, 4.2.1.2, first method: SHA-1 of the public key's bits. It identifies a key
 * and has no security function.
 */
function keyIdentifier(key: KeyObject): Uint8Array {
  const uncompressedPointBytes = 65;
  return createHash("sha1").update(publicKeyInfo(key).subarray(-uncompressedPointBytes)).digest();
}

function exportKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Returns a positive serial number, as certificates require, that never repeats. */
function newSerialNumber(): Uint8Array {
  const bytes = randomBytes(serialNumberBytes);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
