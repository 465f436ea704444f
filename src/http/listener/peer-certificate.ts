import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { PeerCertificate } from "../../request/exchange.ts";
import { type Authority, issuerAmong } from "./authority.ts";

const clientAuthUsage = "1.3.6.1.5.5.7.3.2";

/** Attribute of a subject that holds the uid of a user. */
const uidAttribute = "1.3.6.1.4.1.57683.2";

/** Signature algorithms with SHA-1, as DER object identifiers: RSA and ECDSA. */
const sha1Signatures = [Buffer.from("06092a864886f70d010105", "hex"), Buffer.from("06072a8648ce3d0401", "hex")];
/** Number of bytes that contain the version, serial number and signature algorithm. */
const signatureAlgorithmWithinBytes = 64;

/** The issuers of client certificates. */
export interface Authorities {
  readonly clients: readonly Authority[];
  /** The issuers for authenticating proxies; undefined if no proxies are accepted. */
  readonly frontProxies: readonly Authority[] | undefined;
}

/** Checks the client certificate of a connection after its handshake. */
export function judgePeer(socket: TLSSocket, { clients, frontProxies }: Authorities): PeerCertificate {
  const certificate = socket.getPeerCertificate();
  if (certificate?.raw === undefined) return { kind: "none" };
  if (!socket.authorized) return rejected(String(socket.authorizationError ?? "not trusted"));
  if (certificate.ext_key_usage?.includes(clientAuthUsage) !== true) return rejected("not for client authentication");
  const start = certificate.raw.subarray(0, signatureAlgorithmWithinBytes);
  if (sha1Signatures.some((identifier) => start.includes(identifier))) return rejected("signed with SHA-1");

  const parsed = new X509Certificate(certificate.raw);
  const proxyIssuer = frontProxies && issuerAmong(frontProxies, parsed);
  const issuer = proxyIssuer ?? issuerAmong(clients, parsed);
  // With an intermediate the issuer is unknown, and a proxy's certificate must never count as a client's.
  if (frontProxies !== undefined && issuer === undefined) {
    return rejected("not issued directly by one of the authorities");
  }
  const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  const names = listOf(CN);
  if (names.length > 1) return rejected("several common names");
  const uids = listOf((certificate.subject as unknown as Record<string, string | string[] | undefined>)[uidAttribute]);
  if (uids.length > 1) return rejected("several uids");
  return {
    kind: "verified",
    commonName: names[0] ?? "",
    ...(uids[0] === undefined ? {} : { uid: uids[0] }),
    organizations: listOf(O),
    validFromMs: Date.parse(certificate.valid_from),
    validToMs: Date.parse(certificate.valid_to),
    fingerprint256: certificate.fingerprint256,
    issuer: issuer?.id,
    ...(proxyIssuer === undefined ? {} : { isFrontProxy: true }),
  };
}

function listOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

function rejected(reason: string): PeerCertificate {
  return { kind: "rejected", reason };
}
