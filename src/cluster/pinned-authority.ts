import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { type CertificatePin, keyPin } from "../access/certificates/certificate-pin.ts";
import { connectionFailureText } from "../client/connection-failure.ts";
import { ClusterRequestError } from "./cluster-client.ts";
import { hostOf } from "./member-address.ts";

const handshakeMsMax = 10_000;
const chainLengthMax = 8;

/**
 * Returns the certificate of a server's authority, as PEM, given only the hash of its key. Makes only the handshake. To
 * verify that the server has a certificate of that authority, connect and trust only that authority.
 * @throws ClusterRequestError without a server, or if no certificate in its chain has the hash
 */
export function pinnedAuthority(url: string, pin: CertificatePin): Promise<string> {
  const host = hostOf(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (why: string) => reject(new ClusterRequestError(`cannot reach ${url}: ${why}`));
  const socket = connect({
    host,
    port: Number(new URL(url).port || 443),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
  });
  const deadline = setTimeout(() => fail("it did not answer in time"), handshakeMsMax);
  socket.once("error", (error) => fail(connectionFailureText(error)));
  socket.once("close", () => fail("the connection was closed"));
  socket.once("secureConnect", () => {
    const found = shownBy(socket.getPeerCertificate(true)).find((certificate) => keyPin(certificate) === pin);
    if (found !== undefined) return resolve(found.toString());
    const text = `${url} is not the expected server: none of its certificates has the hash ${pin}`;
    reject(new ClusterRequestError(`${text}; nothing was sent to it`));
  });
  return promise.finally(() => {
    clearTimeout(deadline);
    socket.destroy();
  });
}

interface Shown {
  readonly raw?: Buffer;
  readonly issuerCertificate?: Shown;
}

/** Returns the chain from the server's own certificate up. A root is its own issuer. */
function shownBy(leaf: Shown): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let at: Shown | undefined = leaf; at?.raw !== undefined && chain.length < chainLengthMax; ) {
    chain.push(new X509Certificate(at.raw));
    at = at.issuerCertificate === at ? undefined : at.issuerCertificate;
  }
  return chain;
}
