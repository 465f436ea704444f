import { expect, test } from "bun:test";
import "reflect-metadata/lite";
import { X509CertificateGenerator } from "@peculiar/x509";
import { joinedAuthentication } from "./joined-authentication.ts";

const pem = (content: string) => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;
const data = (authority: string, names: readonly string[]) => ({
  "client-ca-file": authority,
  "requestheader-allowed-names": JSON.stringify(names),
});

test("one server publishes all of its data", () => {
  expect(joinedAuthentication({}, data(pem("AAAA"), ["a"]))).toEqual(data(pem("AAAA"), ["a"]));
});

test("authorities and names of several servers are joined, and then stay as they are", () => {
  const both = joinedAuthentication(data(pem("AAAA"), ["a"]), data(pem("BBBB"), ["b", "a"]));
  expect(both["client-ca-file"]?.match(/[AB]{4}/g)).toEqual(["AAAA", "BBBB"]);
  expect(both["requestheader-allowed-names"]).toBe('["a","b"]');
  for (const own of [data(pem("AAAA"), ["a"]), data(pem("BB\nBB"), ["b"])]) {
    expect(joinedAuthentication(both, own)).toEqual(both);
  }
});

test("other data of the ConfigMap is left to its owner", () => {
  expect(joinedAuthentication({ other: "x" }, data(pem("AAAA"), []))).not.toHaveProperty("other");
});

test("an expired authority is removed", async () => {
  const expired = `${await expiredCertificate()}\n`;
  const both = joinedAuthentication(data(`${expired}${pem("AAAA")}`, []), data(pem("BBBB"), []));
  expect(both["client-ca-file"]).not.toContain(expired.split("\n")[1] as string);
  expect(both["client-ca-file"]?.match(/AAAA|BBBB/g)).toEqual(["AAAA", "BBBB"]);
});

async function expiredCertificate(): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const notAfter = new Date(Date.now() - 1_000);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=expired",
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(notAfter.getTime() - 1_000),
    notAfter,
  });
  return certificate.toString("pem");
}
