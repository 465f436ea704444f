import { createPrivateKey, X509Certificate } from "node:crypto";
import type { KeyPair } from "../../access/certificates/authority.ts";
import { pemBlocks } from "../../access/certificates/pem.ts";
import { readPrivateFile, writePrivateFile } from "../../access/certificates/private-file.ts";

/** Writes a certificate and its key to one file, which is replaced as a whole, so that they always match. */
export async function writeCertificateFile(file: string, { certificate, key }: KeyPair): Promise<void> {
  await writePrivateFile(file, `${certificate.trimEnd()}\n${key.trimEnd()}\n`);
}

/**
 * Reads a certificate and its key. Returns undefined if the file is absent or does not contain a pair.
 * @throws StartupError if others may read it
 */
export async function readCertificateFile(file: string): Promise<KeyPair | undefined> {
  const text = (await readPrivateFile(file)) ?? "";
  const types = pemBlocks(text).map(({ type }) => type);
  const keyType = types.find((type) => type.endsWith("PRIVATE KEY"));
  if (keyType === undefined || !types.includes("CERTIFICATE")) return undefined;
  const keyAt = text.indexOf(`-----BEGIN ${keyType}-----`);
  const end = `-----END ${keyType}-----`;
  const keyEnd = text.indexOf(end, keyAt) + end.length;
  const key = `${text.slice(keyAt, keyEnd)}\n`;
  const certificate = `${(text.slice(0, keyAt) + text.slice(keyEnd)).trim()}\n`;
  try {
    const parsed = new X509Certificate(certificate);
    return parsed.checkPrivateKey(createPrivateKey(key)) ? { certificate, key } : undefined;
  } catch {
    return undefined;
  }
}
