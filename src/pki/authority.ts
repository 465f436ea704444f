import { randomBytes } from "node:crypto";

/** A certificate and its private key, both PEM (the key as PKCS #8). */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Milliseconds since the epoch. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface LeafCertificate extends Validity {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly usage: "server" | "client";
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const serialNumberBytes = 16;

/**
 * A self-signed certificate authority that may sign leaf certificates only.
 * @param key PEM of the key to keep, so that what it signed before stays trusted; a new one when absent
 */
export async function createAuthority({
  commonName,
  key,
  ...validity
}: Validity & { commonName: string; key?: string }): Promise<KeyPair> {
  const x509 = await certificateLibrary();
  const keys = key === undefined ? await generateKeys() : await importKeys(key);
  const usage = x509.KeyUsageFlags;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name: [{ CN: [commonName] }],
    ...dates(validity),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(usage.keyCertSign | usage.cRLSign | usage.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pemOf(certificate.toString("pem")), key: await exportKey(keys.privateKey) };
}

/** A leaf certificate with a new key, signed by the authority. */
export async function issueCertificate(authority: KeyPair, leaf: LeafCertificate): Promise<KeyPair> {
  const x509 = await certificateLibrary();
  const [issuerKeys, keys] = await Promise.all([importKeys(authority.key), generateKeys()]);
  const names = [
    ...leaf.dnsNames.map((value) => ({ type: "dns" as const, value })),
    ...leaf.ipAddresses.map((value) => ({ type: "ip" as const, value })),
  ];
  const purpose = x509.ExtendedKeyUsage[leaf.usage === "server" ? "serverAuth" : "clientAuth"];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    issuer: new x509.X509Certificate(authority.certificate).subjectName,
    subject: [...leaf.organizations.map((organization) => ({ O: [organization] })), { CN: [leaf.commonName] }],
    ...dates(leaf),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: issuerKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([purpose]),
      await x509.AuthorityKeyIdentifierExtension.create(issuerKeys.publicKey),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return { certificate: pemOf(certificate.toString("pem")), key: await exportKey(keys.privateKey) };
}

/** Loaded only where a certificate is made: it costs more than the rest of a start with certificates at hand. */
async function certificateLibrary(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

async function generateKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function importKeys(pem: string): Promise<CryptoKeyPair> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ""), "base64");
  const privateKey = await crypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
  const { d: _, key_ops: __, ...publicPart } = await crypto.subtle.exportKey("jwk", privateKey);
  return { privateKey, publicKey: await crypto.subtle.importKey("jwk", publicPart, algorithm, true, ["verify"]) };
}

async function exportKey(key: CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
}

function dates({ notBeforeMs, notAfterMs }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(notBeforeMs), notAfter: new Date(notAfterMs) };
}

/** Positive, as certificates require, and never twice. */
function newSerialNumber(): string {
  const bytes = randomBytes(serialNumberBytes);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

function pemOf(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
