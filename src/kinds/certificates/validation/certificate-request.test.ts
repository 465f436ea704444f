import { expect, test } from "bun:test";
import { certificateRequestProblem } from "./certificate-request.ts";

const ed25519Request = Buffer.from(
  "MIGOMEICAQAwDzENMAsGA1UEAwwEamFuZTAqMAUGAytlcAMhADRAShCeL9hS6uoqouwd3ArxsK1qABSjZa/2O7ON1TyJoAAw" +
    "BQYDK2VwA0EAdJbZP07YVRJXihK9zTh4J17oQEe8zJnqBzd648KIlMnr9tn4CEZjPKrDVe5gyajhtm0y45+y3x1cKXwKr28o" +
    "AQ==",
  "base64",
);
const p256Request = Buffer.from(
  "MIHpMIGRAgEAMC8xFTATBgNVBAoMDHN5c3RlbTpub2RlczEWMBQGA1UEAwwNc3lzdGVtOm5vZGU6YTBZMBMGByqGSM49AgEG" +
    "CCqGSM49AwEHA0IABGGWWuYFvSng+xz2OYqT5Zu4KNdmLlV/oqH+a7jZB9tcSiOrhG3LG4LRHmfyVZfKZrwu6YpZrg8xF+5Q" +
    "wBbTlWegADAKBggqhkjOPQQDAgNHADBEAiBenvfX2BfUqkTS2luPz8+f0zp1zm7CWQgT/+TjSqy1HwIgCvH6wIsQSh3fqAae" +
    "w47g73dPIihw4YogbZeS5TQF+NQ=",
  "base64",
);

test.each([
  ["an Ed25519 key", ed25519Request],
  ["a P-256 key", p256Request],
])("a request signed by %s is accepted", (_, der) => {
  expect(certificateRequestProblem(pem(der))).toBeUndefined();
});

test.each([
  ["no PEM", "hello", "PEM block type must be CERTIFICATE REQUEST"],
  ["another block", pem(ed25519Request, "CERTIFICATE"), "PEM block type must be CERTIFICATE REQUEST"],
  ["no DER", pem(Buffer.from("hello")), "asn1: structure error: malformed certificate request"],
  ["half of a request", pem(ed25519Request.subarray(0, 60)), "asn1: structure error: malformed certificate request"],
  ["a forged Ed25519 signature", pem(flipped(ed25519Request)), "x509: Ed25519 verification failure"],
  ["a forged ECDSA signature", pem(flipped(p256Request)), "x509: ECDSA verification failure"],
])("%s is refused", (_, text, problem) => {
  expect(certificateRequestProblem(text)).toBe(problem);
});

function pem(der: Buffer, type = "CERTIFICATE REQUEST"): string {
  return `-----BEGIN ${type}-----\n${der.toString("base64")}\n-----END ${type}-----\n`;
}

/** With the last bit of the signature turned. */
function flipped(der: Buffer): Buffer {
  const copy = Buffer.from(der);
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1);
  return copy;
}
