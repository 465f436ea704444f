import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TlsFiles } from "../transport/tls-transport.ts";

/**
 * Creates a certificate authority for one cluster and a certificate for each member with openssl, for examples and
 * tests. A member's certificate has the name `member-<id>`, by which the others identify it.
 */
export function makeCertificates(directory: string, members: readonly number[]): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "30", "-subj", "/CN=raft example");
  for (const member of members) {
    const name = `member-${member}`;
    writeFileSync(
      join(directory, `${name}.ext`),
      `subjectAltName=DNS:${name}\nextendedKeyUsage=serverAuth,clientAuth\n`,
    );
    openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    const signed = ["-in", `${name}.csr`, "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30"];
    openssl("x509", "-req", ...signed, "-extfile", `${name}.ext`, "-out", `${name}.crt`);
  }
}

export function readCertificates(directory: string, member: number): TlsFiles {
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  return { ca: read("ca.crt"), cert: read(`member-${member}.crt`), key: read(`member-${member}.key`) };
}
