const texts: Readonly<Record<string, string>> = {
  ConnectionRefused: "nothing listens there",
  ECONNREFUSED: "nothing listens there",
  ConnectionClosed: "the connection was closed",
  ECONNRESET: "the connection was closed",
  FailedToOpenSocket: "there is no way there",
  TimeoutError: "it does not answer in time",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not of the authority that it should be",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not of the authority that it should be",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not of the authority that it should be",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not of the authority that it should be",
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name: see --tls-san",
};

/** Returns a few words that say why no answer came. */
export function connectionFailureText(error: unknown): string {
  const { code, name, message } = error as { code?: string; name?: string; message?: string };
  return texts[code ?? ""] ?? texts[name ?? ""] ?? code ?? message ?? String(error);
}
