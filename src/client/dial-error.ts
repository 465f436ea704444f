/** The address of a server, as a name or an IP address. */
export interface DialTarget {
  readonly host: string;
  readonly port: number;
}

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function authorityOf({ host, port }: DialTarget): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

const unknownAuthorityCodes: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
const verification = "tls: failed to verify certificate: x509:";

/** Returns Go's text for a failed connection, which tools look for. */
export function dialErrorText(error: Error, target: DialTarget): string {
  const { code = "" } = error as { code?: string };
  const authority = authorityOf(target);
  if (unknownAuthorityCodes.has(code)) return `${verification} certificate signed by unknown authority`;
  switch (code) {
    case "ECONNREFUSED":
    case "ConnectionRefused":
      return `dial tcp ${authority}: connect: connection refused`;
    case "ETIMEDOUT":
      return `dial tcp ${authority}: i/o timeout`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${target.host}: no such host`;
    case "EHOSTUNREACH":
      return `dial tcp ${authority}: connect: no route to host`;
    case "ENETUNREACH":
      return `dial tcp ${authority}: connect: network is unreachable`;
    case "EINVAL":
      return `dial tcp ${authority}: connect: invalid argument`;
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return `${verification} certificate has expired or is not yet valid`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `${verification} certificate is not valid for the name of the server`;
    // Most servers that answer without TLS speak HTTP.
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return "http: server gave HTTP response to HTTPS client";
    case "ECONNRESET":
    case "ConnectionClosed":
      return "EOF";
    default:
      return `dial tcp ${authority}: ${error.message}`;
  }
}
