import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import type { EtcdTls } from "./etcd-member.ts";

/** Writes the files of an authority and of a certificate for servers and clients. */
export async function certificatesIn(directory: string, name: string): Promise<EtcdTls> {
  const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
  const authority = createAuthority({ commonName: `${name} authority`, ...validity });
  const pair = issueCertificate(authority, {
    ...validity,
    commonName: name,
    organizations: [],
    usage: "peer",
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
  });
  const files = [`${name}-ca.pem`, `${name}.pem`, `${name}-key.pem`].map((file) => join(directory, file));
  const [ca, certificate, key] = files as [string, string, string];
  await Promise.all([
    writeFile(ca, authority.certificate),
    writeFile(certificate, pair.certificate),
    writeFile(key, pair.key, { mode: 0o600 }),
  ]);
  return { ca, certificate, key };
}
