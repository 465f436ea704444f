import "reflect-metadata";
import { expect, test } from "bun:test";
import { X509Certificate as NodeCertificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { createAuthority, issueCertificate, type LeafCertificate } from "./authority.ts";

/** An independent implementation parses our certificates. */

const validity = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2055, 5, 7, 8, 9, 10) };
const authority = createAuthority({ commonName: "an authority", ...validity });
const leaf: LeafCertificate = {
  ...validity,
  commonName: "zoë",
  organizations: ["one", "two"],
  usage: "server",
  dnsNames: ["localhost", "a.example"],
  ipAddresses: ["127.0.0.1", "::1", "2001:db8::a:0:0:1", "::ffff:1.2.3.4", "fe80::1%eth0"],
};

test("the authority only signs leaf certificates, and is self-signed", async () => {
  const certificate = new x509.X509Certificate(authority.certificate);
  expect(certificate.subject).toBe("CN=an authority");
  expect(await certificate.isSelfSigned()).toBe(true);
  expect(await certificate.verify({ signatureOnly: true })).toBe(true);
  const constraints = certificate.getExtension(x509.BasicConstraintsExtension);
  expect(constraints).toMatchObject({ ca: true, pathLength: 0, critical: true });
  const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
  const usage = certificate.getExtension(x509.KeyUsagesExtension);
  expect(usage).toMatchObject({ usages: keyCertSign | cRLSign | digitalSignature, critical: true });
  expect(certificate.notBefore.getTime()).toBe(validity.notBeforeMs);
  expect(certificate.notAfter.getTime()).toBe(validity.notAfterMs);
});

test("a leaf carries names, use and the identity of its issuer", async () => {
  const pair = issueCertificate(authority, leaf);
  const certificate = new x509.X509Certificate(pair.certificate);
  const issuer = new x509.X509Certificate(authority.certificate);
  expect(await certificate.verify({ publicKey: issuer.publicKey, signatureOnly: true })).toBe(true);
  expect(certificate.issuer).toBe(issuer.subject);
  expect(certificate.subject).toBe("O=one, O=two, CN=zoë");
  expect(certificate.getExtension(x509.BasicConstraintsExtension)).toMatchObject({ ca: false, critical: true });
  expect(certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages).toEqual([x509.ExtendedKeyUsage.serverAuth]);
  expect(certificate.getExtension(x509.KeyUsagesExtension)?.usages).toBe(x509.KeyUsageFlags.digitalSignature);
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [];
  expect(names.filter(({ type }) => type === "dns").map(({ value }) => value)).toEqual([...leaf.dnsNames]);
  expect(names.filter(({ type }) => type === "ip")).toHaveLength(leaf.ipAddresses.length);
  const read = new NodeCertificate(pair.certificate);
  for (const address of ["127.0.0.1", "::1", "2001:db8:0:0:a::1", "fe80::1"])
    expect(read.checkIP(address)).toBeDefined();
  const identifier = issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  expect(certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe(identifier ?? "");
});

test("a client certificate without names has no list of names", () => {
  const pair = issueCertificate(authority, { ...leaf, usage: "client", dnsNames: [], ipAddresses: [] });
  const certificate = new x509.X509Certificate(pair.certificate);
  expect(certificate.getExtension(x509.SubjectAlternativeNameExtension)).toBeNull();
  expect(certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages).toEqual([x509.ExtendedKeyUsage.clientAuth]);
});

test("serial numbers are positive and differ", () => {
  const serials = Array.from(
    { length: 20 },
    () => new NodeCertificate(issueCertificate(authority, leaf).certificate).serialNumber,
  );
  expect(new Set(serials).size).toBe(serials.length);
  for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
});

test("a renewed authority with the same key signs under the same name and key", () => {
  const renewed = createAuthority({ commonName: "an authority", ...validity, key: authority.key });
  expect(renewed.key).toBe(authority.key);
  const issued = new NodeCertificate(issueCertificate(renewed, leaf).certificate);
  expect(issued.checkIssued(new NodeCertificate(authority.certificate))).toBe(true);
});

test("a key on another curve is rejected", async () => {
  const { generateKeyPairSync } = await import("node:crypto");
  const key = generateKeyPairSync("ec", { namedCurve: "P-384" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
  expect(() => createAuthority({ commonName: "x", ...validity, key })).toThrow(/P-256/);
});
