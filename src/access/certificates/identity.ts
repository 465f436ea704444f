import { join } from "node:path";
import type { Clock } from "../../process/clock.ts";
import { StartupError } from "../../process/startup-error.ts";
import { issueCertificate, type KeyPair } from "./authority.ts";
import { pinOf } from "./certificate-pin.ts";
import { type Certificates, openCertificates } from "./certificates.ts";
import { watchFiles } from "./changed-files.ts";
import { KeptCertificates } from "./kept-certificates.ts";
import { type NamedServer, renderKubeconfig, writeKubeconfig } from "./kubeconfig.ts";
import { certificateBlocks } from "./pem.ts";
import { readPem } from "./read-pem.ts";
import {
  apiAuthority,
  issuerOf,
  type RotatingAuthority,
  type RotationStep,
  trustedAuthorities,
} from "./rotating-authority.ts";
import type { SharedSecrets } from "./shared-secrets.ts";

/** Certificates of a listener, PEM. */
export interface ListenerTls {
  readonly key: string;
  readonly cert: string;
  /** Authorities of clients. If the list is empty, clients are not asked for a certificate. */
  readonly ca: readonly string[];
  /** Authorities of authenticating proxies. */
  readonly frontProxyCa?: string | undefined;
}

/** The part of the configuration that describes this server's certificates. */
export interface IdentityOptions {
  readonly clock: Clock;
  readonly bindAddress: string;
  /** Further names and addresses of our serving certificate. */
  readonly servingHosts: readonly string[];
  /** Undefined in memory. */
  readonly dataDir: string | undefined;
  /** The user's own serving certificate; undefined to use ours. */
  readonly tlsFiles: { readonly certificate: string; readonly key: string } | undefined;
  readonly clientCaFile: string | undefined;
  /** File with the authorities of nodes' agents; undefined to accept any certificate. */
  readonly kubeletCertificateAuthority: string | undefined;
  readonly authentication: { readonly frontProxy: { readonly caFile: string } | undefined };
  /** The file to write the kubeconfig to; undefined for none. */
  readonly kubeconfig: string | undefined;
}

const clockSkewMs = 60 * 60 * 1000;
const nodeClientLifetimeMs = 24 * 60 * 60 * 1000;

/**
 * The credentials of this server and the authorities it trusts: our own authority with its certificates, or the serving
 * certificate and client authorities that flags name.
 */
export class ServerIdentity {
  /** PEM of the authorities of nodes' agents, read at startup; undefined to accept any certificate. */
  readonly nodeAuthorities: string | undefined;
  readonly #config: IdentityOptions;
  readonly #kept: KeptCertificates<Certificates>;
  readonly #followers = new Set<() => void | Promise<void>>();
  #url = "";
  #members: readonly NamedServer[] = [];
  #nodeClient: (KeyPair & { readonly renewAtMs: number; readonly signer: KeyPair }) | undefined;

  static async open(config: IdentityOptions): Promise<ServerIdentity> {
    const { clock, bindAddress, servingHosts: hosts } = config;
    const directory = config.dataDir === undefined ? undefined : join(config.dataDir, "pki");
    const open = (current?: Certificates) =>
      openCertificates({ directory, bindAddress, hosts, nowMs: clock.nowMs(), current });
    const current = await open();
    const kept = new KeptCertificates<Certificates>({ clock, kind: apiAuthority, directory, current, open });
    return new ServerIdentity(config, kept);
  }

  private constructor(config: IdentityOptions, kept: KeptCertificates<Certificates>) {
    this.#config = config;
    this.#kept = kept;
    const { kubeletCertificateAuthority: file } = config;
    this.nodeAuthorities = file === undefined ? undefined : readPem("--kubelet-certificate-authority", file);
  }

  /** Administrator's bearer token. */
  get token(): string {
    return this.#kept.current.token;
  }

  /** Administrator's client certificate. */
  get admin(): KeyPair {
    return this.#kept.current.admin;
  }

  /** Token as a line of a token file. */
  get tokenFile(): string {
    return `${this.token},kubernetes-admin,kubernetes-admin,system:masters\n`;
  }

  /**
   * Returns the certificate for connections to nodes' agents. Created on demand by our own authority. It has no group, so
   * a node that redirects to this server gains no rights.
   */
  nodeClient(nowMs: number): KeyPair {
    // Agents trust the authority with which we serve.
    const signer = this.#kept.current.authority;
    const { renewAtMs = 0, signer: before } = this.#nodeClient ?? {};
    if (this.#nodeClient === undefined || renewAtMs <= nowMs || before?.key !== signer.key) {
      const notBeforeMs = nowMs - clockSkewMs;
      const validity = { notBeforeMs, notAfterMs: nowMs + nodeClientLifetimeMs };
      const names = { commonName: "kube-apiserver-kubelet-client", organizations: [] };
      const pair = issueCertificate(signer, {
        ...names,
        ...validity,
        usage: "client",
        dnsNames: [],
        ipAddresses: [],
      });
      this.#nodeClient = { ...pair, signer, renewAtMs: nowMs + nodeClientLifetimeMs / 2 };
    }
    return this.#nodeClient;
  }

  /** PEM of the authorities that clients have to trust: ours and any next one, or the user's certificate itself. */
  get ca(): string {
    const { tlsFiles } = this.#config;
    return tlsFiles === undefined
      ? trustedAuthorities(this.#kept.current).join("")
      : readPem("--tls-cert-file", tlsFiles.certificate);
  }

  /** The hash by which clients recognise this server before they trust its authority. */
  get caHash(): string {
    return pinOf(this.#config.tlsFiles === undefined ? this.#kept.current.authority.certificate : this.ca);
  }

  /** Returns the secrets for a new replica. */
  sharedSecrets(peerAuthority: KeyPair): SharedSecrets {
    const { authority, next, nextIssues, former, serviceAccountKey, token } = this.#kept.current;
    return { authority, next, nextIssues, former, peerAuthority, serviceAccountKey, token };
  }

  /** Returns the TLS settings of the listener. Rereads them at each reload, so that replaced files take effect. */
  tls(): ListenerTls {
    const { tlsFiles, clientCaFile } = this.#config;
    const { authority, serving } = this.#kept.current;
    const further = clientCaFile === undefined ? [] : [readPem("--client-ca-file", clientCaFile)];
    const ca = [...trustedAuthorities(this.#kept.current), ...further];
    const frontProxyCa = this.#frontProxyCa(ca);
    if (tlsFiles === undefined) {
      // Includes the authority for clients that only know its hash.
      const chain = serving.certificate + authority.certificate;
      return { cert: chain, key: serving.key, ca, frontProxyCa };
    }
    const cert = readPem("--tls-cert-file", tlsFiles.certificate);
    return { cert, key: readPem("--tls-private-key-file", tlsFiles.key), ca, frontProxyCa };
  }

  /**
   * Returns the authority of front proxies. @throws StartupError if it is also an authority of clients, which could then
   * impersonate any user
   */
  #frontProxyCa(ca: readonly string[]): string | undefined {
    const flag = "--requestheader-client-ca-file";
    const { caFile } = this.#config.authentication.frontProxy ?? {};
    if (caFile === undefined) return undefined;
    const pem = readPem(flag, caFile);
    const clients = certificateBlocks(ca.join("\n"));
    const shared = certificateBlocks(pem).some((one) => clients.some((other) => other.equals(one)));
    if (!shared) return pem;
    throw new StartupError(`${flag}: ${caFile} contains an authority of clients: use a separate authority for proxies`);
  }

  /** The authority that signs client certificates. */
  get issuer(): KeyPair {
    return issuerOf(this.#kept.current);
  }

  get rotating(): RotatingAuthority {
    return this.#kept.current;
  }

  /** Takes a rotation step, after all replicas have taken the previous one. @throws RotationError */
  rotate(step: RotationStep): Promise<void> {
    return this.#kept.rotate(step);
  }

  /** Calls `run` when the authorities that clients have to trust may have changed. The change waits for its promise. */
  follow(run: () => void | Promise<void>): Disposable {
    this.#followers.add(run);
    return { [Symbol.dispose]: () => void this.#followers.delete(run) };
  }

  /** Uses the certificates that another process of this server has written. Resolves when the listener uses them. */
  reread(): Promise<void> {
    return this.#kept.reread();
  }

  /** Private key of service account tokens, PEM. */
  get serviceAccountKey(): string {
    return this.#kept.current.serviceAccountKey;
  }

  /** Renders the kubeconfig for `url` and writes it to the configured path. */
  async publish(url: string): Promise<string> {
    this.#url = url;
    const { admin, token } = this.#kept.current;
    const text = renderKubeconfig({ server: url, authority: this.ca, admin, token, members: this.#members });
    if (this.#config.kubeconfig !== undefined) await writeKubeconfig(this.#config.kubeconfig, text);
    return text;
  }

  /** Writes the kubeconfig again, with a context for each of these members. Call `publish` first. */
  async nameMembers(members: readonly NamedServer[]): Promise<void> {
    if (JSON.stringify(members) === JSON.stringify(this.#members)) return;
    this.#members = members;
    await this.publish(this.#url);
  }

  /**
   * Renews certificates before they expire, follows the user's own files, and passes both to the listener without
   * dropping a connection.
   * @param renews false in a process that leaves renewal to another one, which calls for `reread`
   */
  keepFresh(
    { clock, renews }: { readonly clock: Clock; readonly renews: boolean },
    reload: (tls: ListenerTls) => void,
    onError: (error: unknown) => void,
  ): Disposable {
    const use = async () => {
      // Throws if files are currently unusable. They are checked again.
      reload(this.tls());
      await Promise.all([...this.#followers].map((run) => run()));
      await this.publish(this.#url);
    };
    const kept = new DisposableStack();
    if (renews) kept.use(this.#kept.keepFresh(use, onError));
    else this.#kept.follow(use);
    const { tlsFiles, clientCaFile, authentication } = this.#config;
    if (tlsFiles !== undefined || clientCaFile !== undefined || authentication.frontProxy !== undefined) {
      const read = () => JSON.stringify(this.tls());
      kept.use(watchFiles({ clock, read, current: read(), onChanged: () => void use().catch(onError), onError }));
    }
    return kept;
  }
}
