import { createECDH, createPrivateKey, hkdfSync, X509Certificate } from "node:crypto";
import type { Clock } from "../../process/clock.ts";
import { createAuthority, issueCertificate, type KeyPair } from "./authority.ts";
import { authorityLifetimeMs, validity } from "./kept-pair.ts";

/** Common name of the client certificate, as in most clusters. */
export const frontProxyClientName = "front-proxy-client";
const authorityName = "quorate-front-proxy";
const clientLifetimeMs = 24 * 60 * 60 * 1000;
const clockSkewMs = 60 * 60 * 1000;
/** The remaining validity at which the published certificate of the authority is replaced. */
const renewalMs = 90 * 24 * 60 * 60 * 1000;
const curve = "prime256v1";
const keyBytes = 32;
/** Maximum number of attempts. One of four billion byte sequences is not a key. */
const derivationsMax = 4;

/**
 * The authority and the certificate by which the servers of APIServices recognise this server, unless flags name others.
 * The authority's key is derived from a secret that all replicas share. So a certificate that one replica issues is
 * accepted by all who trust the authority that another one has published.
 */
export class OwnFrontProxy {
  readonly #clock: Clock;
  readonly #authority: KeyPair;
  #client: (KeyPair & { readonly renewAtMs: number }) | undefined;

  /** @param secret the key of service accounts, PEM */
  constructor(secret: string, clock: Clock) {
    this.#clock = clock;
    const names = { commonName: authorityName, key: derivedKey(secret) };
    this.#authority = createAuthority({ ...names, ...validity(clock.nowMs(), authorityLifetimeMs) });
  }

  /** Returns the certificate of the authority: the published one while it is valid long enough. */
  authority(published: string | undefined): string {
    return published !== undefined && this.#isOurs(published) ? published : this.#authority.certificate;
  }

  /** Returns the client certificate. Makes a new one after half of its validity. */
  client(): KeyPair {
    const nowMs = this.#clock.nowMs();
    if (this.#client === undefined || this.#client.renewAtMs <= nowMs) {
      const pair = issueCertificate(this.#authority, {
        commonName: frontProxyClientName,
        organizations: [],
        usage: "client",
        dnsNames: [],
        ipAddresses: [],
        notBeforeMs: nowMs - clockSkewMs,
        notAfterMs: nowMs + clientLifetimeMs,
      });
      this.#client = { ...pair, renewAtMs: nowMs + clientLifetimeMs / 2 };
    }
    return this.#client;
  }

  #isOurs(pem: string): boolean {
    try {
      const certificate = new X509Certificate(pem);
      const isSameKey = certificate.checkPrivateKey(createPrivateKey(this.#authority.key));
      return isSameKey && certificate.validToDate.getTime() - this.#clock.nowMs() > renewalMs;
    } catch {
      return false;
    }
  }
}

/** Returns a key on P-256, PEM. */
function derivedKey(secret: string): string {
  const ecdh = createECDH(curve);
  for (let attempt = 0; ; attempt++) {
    const bytes = Buffer.from(hkdfSync("sha256", secret, "", `${authorityName} ${attempt}`, keyBytes));
    try {
      ecdh.setPrivateKey(bytes);
    } catch (error) {
      if (attempt < derivationsMax) continue;
      throw error;
    }
    const point = ecdh.getPublicKey();
    const [x, y] = [point.subarray(1, 1 + keyBytes), point.subarray(1 + keyBytes)].map((half) =>
      half.toString("base64url"),
    ) as [string, string];
    const key = { kty: "EC", crv: "P-256", d: bytes.toString("base64url"), x, y };
    return createPrivateKey({ key, format: "jwk" }).export({ type: "pkcs8", format: "pem" }).toString();
  }
}
