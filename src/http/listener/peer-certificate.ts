import type { TLSSocket } from "node:tls";
import type { PeerCertificate } from "../exchange.ts";

const clientAuthUsage = "1.3.6.1.5.5.7.3.2";

/** Signature algorithms on SHA-1, as DER object identifiers: RSA and ECDSA. */
const sha1Signatures = [Buffer.from("06092a864886f70d010105", "hex"), Buffer.from("06072a8648ce3d0401", "hex")];
/** The signature algorithm stands behind version and serial number, which fit into this many bytes. */
const signatureAlgorithmWithinBytes = 64;

/** Judges the client certificate of a connection whose handshake is done. */
export function judgePeer(socket: TLSSocket): PeerCertificate {
  const certificate = socket.getPeerCertificate();
  if (certificate?.raw === undefined) return { kind: "none" };
  if (!socket.authorized) return rejected(String(socket.authorizationError ?? "not trusted"));
  if (certificate.ext_key_usage?.includes(clientAuthUsage) !== true) return rejected("not for client authentication");
  const start = certificate.raw.subarray(0, signatureAlgorithmWithinBytes);
  if (sha1Signatures.some((identifier) => start.includes(identifier))) return rejected("signed with SHA-1");

  const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  const names = listOf(CN);
  if (names.length > 1) return rejected("several common names");
  return {
    kind: "verified",
    commonName: names[0] ?? "",
    organizations: listOf(O),
    validFromMs: Date.parse(certificate.valid_from),
    validToMs: Date.parse(certificate.valid_to),
    fingerprint256: certificate.fingerprint256,
  };
}

function listOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

function rejected(reason: string): PeerCertificate {
  return { kind: "rejected", reason };
}
