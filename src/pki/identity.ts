import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../api/clock.ts";
import type { ServerConfig } from "../config/server-options.ts";
import { StartupError } from "../config/startup-error.ts";
import type { ListenerTls } from "../http/listener.ts";
import { issueCertificate, type KeyPair } from "./authority.ts";
import { pinOf } from "./certificate-pin.ts";
import { watchFiles } from "./changed-files.ts";
import { type CertificateOptions, type Certificates, openCertificates } from "./certificates.ts";
import { renderKubeconfig, writeKubeconfig } from "./kubeconfig.ts";
import { renewCertificates } from "./renewal.ts";
import type { SharedSecrets } from "./shared-secrets.ts";

const clockSkewMs = 60 * 60 * 1000;
const nodeClientLifetimeMs = 24 * 60 * 60 * 1000;

/**
 * How this server proves who it is and whom it trusts: our own authority and what it has signed, with the user's serving
 * certificate and client authorities in their place where flags name them.
 */
export class ServerIdentity {
  readonly #config: ServerConfig;
  readonly #options: Omit<CertificateOptions, "nowMs">;
  #certificates: Certificates;
  #url = "";
  #nodeClient: (KeyPair & { readonly renewAtMs: number }) | undefined;

  static async open(config: ServerConfig): Promise<ServerIdentity> {
    const directory = config.dataDir === undefined ? undefined : join(config.dataDir, "pki");
    const options = { directory, bindAddress: config.bindAddress, hosts: config.servingHosts };
    const certificates = await openCertificates({ ...options, nowMs: config.clock.nowMs() });
    return new ServerIdentity(config, options, certificates);
  }

  private constructor(config: ServerConfig, options: Omit<CertificateOptions, "nowMs">, certificates: Certificates) {
    this.#config = config;
    this.#options = options;
    this.#certificates = certificates;
  }

  /** The administrator's bearer token. */
  get token(): string {
    return this.#certificates.token;
  }

  /** What the administrator proves itself with. */
  get admin(): KeyPair {
    return this.#certificates.admin;
  }

  /** The token as a line of a token file. */
  get tokenFile(): string {
    return `${this.token},kubernetes-admin,kubernetes-admin,system:masters\n`;
  }

  /**
   * How this server proves itself to the agents of nodes: a certificate of its own authority, made when first needed. It
   * is in no group: whoever makes a node point back at this server gets no rights here.
   */
  nodeClient(nowMs: number): KeyPair {
    if (this.#nodeClient === undefined || this.#nodeClient.renewAtMs <= nowMs) {
      const { authority } = this.#certificates;
      const notBeforeMs = nowMs - clockSkewMs;
      const validity = { notBeforeMs, notAfterMs: nowMs + nodeClientLifetimeMs };
      const names = { commonName: "kube-apiserver-kubelet-client", organizations: [] };
      const pair = issueCertificate(authority, {
        ...names,
        ...validity,
        usage: "client",
        dnsNames: [],
        ipAddresses: [],
      });
      this.#nodeClient = { ...pair, renewAtMs: nowMs + nodeClientLifetimeMs / 2 };
    }
    return this.#nodeClient;
  }

  /** What clients have to trust, PEM: our authority, or the user's certificate itself. */
  get ca(): string {
    const { tlsFiles } = this.#config;
    return tlsFiles === undefined
      ? this.#certificates.authority.certificate
      : readPem("--tls-cert-file", tlsFiles.certificate);
  }

  /** By which those who are told it know this server before they trust its authority. */
  get caHash(): string {
    return pinOf(this.ca);
  }

  /** What a new replica gets. */
  sharedSecrets(peerAuthority: KeyPair): SharedSecrets {
    const { authority, serviceAccountKey, token } = this.#certificates;
    return { authority, peerAuthority, serviceAccountKey, token };
  }

  /** For the listener; read again at each reload, so that replaced files count. */
  tls(): ListenerTls {
    const { tlsFiles, clientCaFile } = this.#config;
    const { authority, serving } = this.#certificates;
    const further = clientCaFile === undefined ? [] : [readPem("--client-ca-file", clientCaFile)];
    const ca = [authority.certificate, ...further];
    const frontProxyCa = this.#frontProxyCa(ca);
    if (tlsFiles === undefined) {
      // With the authority, which those who know its hash alone have to see.
      const chain = serving.certificate + authority.certificate;
      return { cert: chain, key: serving.key, ca, frontProxyCa };
    }
    const cert = readPem("--tls-cert-file", tlsFiles.certificate);
    return { cert, key: readPem("--tls-private-key-file", tlsFiles.key), ca, frontProxyCa };
  }

  /** @throws StartupError for an authority of clients too: all of them could speak for everybody */
  #frontProxyCa(ca: readonly string[]): string | undefined {
    const flag = "--requestheader-client-ca-file";
    const { caFile } = this.#config.authentication.frontProxy ?? {};
    if (caFile === undefined) return undefined;
    const pem = readPem(flag, caFile);
    const shared = pemBlocks(pem).find((block) => ca.some((other) => pemBlocks(other).includes(block)));
    if (shared === undefined) return pem;
    throw new StartupError(`${flag}: ${caFile} holds an authority of clients: give the proxies one of their own`);
  }

  /** Our own authority, which signs certificates of clients. */
  get authority(): KeyPair {
    return this.#certificates.authority;
  }

  /** Private key of service account tokens, PEM. */
  get serviceAccountKey(): string {
    return this.#certificates.serviceAccountKey;
  }

  /** Renders the kubeconfig for `url`, and writes it where the configuration says. */
  async publish(url: string): Promise<string> {
    this.#url = url;
    const { authority: _authority, admin, token } = this.#certificates;
    const text = renderKubeconfig({ server: url, authority: this.ca, admin, token });
    if (this.#config.kubeconfig !== undefined) await writeKubeconfig(this.#config.kubeconfig, text);
    return text;
  }

  /**
   * Makes new certificates before the old ones end, follows the user's own files, and hands both to the listener without
   * dropping a connection.
   */
  keepFresh(clock: Clock, reload: (tls: ListenerTls) => void, onError: (error: unknown) => void): Disposable {
    const use = () => {
      reload(this.tls());
      this.publish(this.#url).catch(onError);
    };
    const kept = new DisposableStack();
    kept.use(
      renewCertificates({
        clock,
        certificates: this.#options,
        current: this.#certificates,
        onRenewed: (renewed) => {
          this.#certificates = renewed;
          use();
        },
        onError,
      }),
    );
    const { tlsFiles, clientCaFile, authentication } = this.#config;
    if (tlsFiles !== undefined || clientCaFile !== undefined || authentication.frontProxy !== undefined) {
      const read = () => JSON.stringify(this.tls());
      kept.use(watchFiles({ clock, read, current: read(), onChanged: use, onError }));
    }
    return kept;
  }
}

/** The base64 of each block, without the blanks that differ from writer to writer. */
function pemBlocks(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => block.replace(/\s/g, ""));
}

function readPem(flag: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new StartupError(`${flag}: cannot read ${file} (${(error as { code?: string }).code}): check the path`);
  }
  if (!text.includes("-----BEGIN ")) throw new StartupError(`${flag}: ${file} holds no PEM block: check the file`);
  return text;
}
