import { X509Certificate } from "node:crypto";
import { createAuthority, issueCertificate, type KeyPair } from "../../access/certificates/authority.ts";
import { readPrivateFile, writePrivateFile } from "../../access/certificates/private-file.ts";
import type { Clock } from "../../process/clock.ts";
import type { AgentPaths } from "./agent-paths.ts";

const lifeMs = 365 * 24 * 3_600_000;
/** Time before now at which it becomes valid, because clocks differ. */
const backdateMs = 3_600_000;

/**
 * Returns a serving certificate that this machine has signed itself, for a node without one of the cluster. Clients
 * cannot verify it. It is kept until it expires.
 */
export async function ownCertificate(
  { ownCertificate: file, ownKey }: Pick<AgentPaths, "ownCertificate" | "ownKey">,
  names: { readonly hostname: string; readonly ipAddresses: readonly string[] },
  clock: Clock,
): Promise<KeyPair> {
  const [kept, key] = [await readPrivateFile(file), await readPrivateFile(ownKey)];
  const nowMs = clock.nowMs();
  if (kept !== undefined && key !== undefined && new X509Certificate(kept).validToDate.getTime() > nowMs) {
    return { certificate: kept, key };
  }
  const validity = { notBeforeMs: nowMs - backdateMs, notAfterMs: nowMs + lifeMs };
  const second = Math.floor(nowMs / 1_000);
  const authority = createAuthority({ commonName: `${names.hostname}-ca@${second}`, ...validity });
  const leaf = issueCertificate(authority, {
    commonName: `${names.hostname}@${second}`,
    organizations: [],
    usage: "server",
    dnsNames: [names.hostname],
    ipAddresses: names.ipAddresses,
    ...validity,
  });
  const pair = { certificate: leaf.certificate + authority.certificate, key: leaf.key };
  await writePrivateFile(ownKey, pair.key);
  await writePrivateFile(file, pair.certificate);
  return pair;
}
