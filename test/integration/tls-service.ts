import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";

/** A service on this machine that a server calls over TLS, such as a webhook or an issuer of tokens. */
export class TlsService implements AsyncDisposable {
  readonly url: string;
  /** The authority of its certificate. */
  readonly ca: string;
  readonly #server: Bun.Server<undefined>;

  constructor(
    answer: (request: Request) => Response | Promise<Response>,
    hostname: "localhost" | "127.0.0.1" = "localhost",
    { expired = false } = {},
  ) {
    const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
    const authority = createAuthority({ commonName: "an authority", ...validity });
    const pair = issueCertificate(authority, {
      ...validity,
      ...(expired ? { notAfterMs: Date.now() - 1_000 } : {}),
      commonName: hostname,
      organizations: [],
      usage: "server",
      dnsNames: ["localhost"],
      ipAddresses: hostname === "localhost" ? [] : [hostname],
    });
    const tls = { cert: pair.certificate, key: pair.key };
    this.#server = Bun.serve({ port: 0, hostname, tls, fetch: (request) => answer(request) });
    this.url = `https://${hostname}:${this.#server.port}`;
    this.ca = authority.certificate;
  }

  /** Returns a kubeconfig for calls of the path. */
  kubeconfig(path: string, user: object = {}): string {
    const cluster = { server: this.url + path, "certificate-authority-data": btoa(this.ca) };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "s", user: "u" } }],
      clusters: [{ name: "s", cluster }],
      users: [{ name: "u", user }],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}
