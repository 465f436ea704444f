import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../raft/testing/free-ports.ts";
import { EtcdConnection } from "../../src/storage/etcd/client/etcd-connection.ts";
import { readSecrets } from "../../src/storage/etcd/client/etcd-credentials.ts";
import { parseEndpoints } from "../../src/storage/etcd/client/etcd-endpoint.ts";
import { methods } from "../../src/storage/etcd/client/messages.ts";

/** Time in which etcd must start. */
const startMsMax = 15_000;
const pollMs = 20;

/** The etcd on the PATH, as Debian's etcd-server package installs it; undefined without one. */
export const etcdBinary = Bun.which("etcd") ?? undefined;

/** Prints why the tests of a file do not run on a machine without etcd. Returns whether it has etcd. */
export function hasEtcd(file: string): boolean {
  if (etcdBinary === undefined) console.warn(`${file}: not run, because no etcd is on the PATH (Debian: etcd-server)`);
  return etcdBinary !== undefined;
}

export interface EtcdMemberOptions {
  readonly name?: string;
  readonly clientPort?: number;
  readonly peerPort?: number;
  /** Members of the cluster, as `name=url`; by default the member is alone. */
  readonly cluster?: string;
  readonly directory?: string;
  readonly flags?: readonly string[];
  /** Files for TLS with client certificates; by default the member has none. */
  readonly tls?: EtcdTls;
}

/** Paths of PEM files. */
export interface EtcdTls {
  readonly ca: string;
  /** Certificate and key, for the server and for the client that waits until it is ready. */
  readonly certificate: string;
  readonly key: string;
}

/** A real etcd of this test. */
export class EtcdMember implements AsyncDisposable {
  readonly clientPort: number;
  readonly directory: string;
  readonly #tls: EtcdTls | undefined;
  readonly #arguments: readonly string[];
  #child: Bun.Subprocess | undefined;

  private constructor(clientPort: number, directory: string, tls: EtcdTls | undefined, args: readonly string[]) {
    this.clientPort = clientPort;
    this.directory = directory;
    this.#tls = tls;
    this.#arguments = args;
  }

  static async create(options: EtcdMemberOptions = {}): Promise<EtcdMember> {
    const { name = "etcd", flags = [], tls } = options;
    const clientPort = options.clientPort ?? (await freePort());
    const peerPort = options.peerPort ?? (await freePort());
    const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "quorate-etcd-")));
    const client = `${tls === undefined ? "http" : "https"}://127.0.0.1:${clientPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    return new EtcdMember(clientPort, directory, tls, [
      `--name=${name}`,
      `--data-dir=${join(directory, "data")}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${options.cluster ?? `${name}=${peer}`}`,
      "--heartbeat-interval=20",
      "--election-timeout=200",
      "--log-level=error",
      ...(tls === undefined
        ? []
        : [
            `--cert-file=${tls.certificate}`,
            `--key-file=${tls.key}`,
            `--trusted-ca-file=${tls.ca}`,
            "--client-cert-auth=true",
          ]),
      ...flags,
    ]);
  }

  /** Creates and starts a member that is alone. */
  static async start(options: EtcdMemberOptions = {}): Promise<EtcdMember> {
    const member = await EtcdMember.create(options);
    member.spawn();
    try {
      await member.ready();
      return member;
    } catch (error) {
      await member[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return `${this.#tls === undefined ? "http" : "https"}://127.0.0.1:${this.clientPort}`;
  }

  spawn(): void {
    this.#child = Bun.spawn([etcdBinary as string, ...this.#arguments], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
  }

  /** Waits until it has a leader. */
  async ready(): Promise<void> {
    const endMs = performance.now() + startMsMax;
    let reason = "";
    while (performance.now() < endMs) {
      using connection = this.connect();
      const failure = await connection.call(methods.range, { key: "ready" }, 1_000).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      if (failure === undefined) return;
      reason = failure.message;
      await Bun.sleep(pollMs);
    }
    throw new Error(`etcd at ${this.url} does not start: ${reason}`);
  }

  /** Opens a connection of its own. */
  connect(): EtcdConnection {
    const [endpoint] = parseEndpoints([this.url], "etcd");
    const { ca, certificate, key } = this.#tls ?? {};
    return new EtcdConnection(endpoint as NonNullable<typeof endpoint>, readSecrets({ ca, certificate, key }));
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    child?.kill("SIGKILL");
    await child?.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Starts members that form one cluster. */
export async function startEtcdCluster(size: number): Promise<EtcdMember[]> {
  const peers = await Promise.all(
    Array.from({ length: size }, async (_, at) => ({ name: `m${at}`, port: await freePort() })),
  );
  const cluster = peers.map(({ name, port }) => `${name}=http://127.0.0.1:${port}`).join(",");
  const members = await Promise.all(
    peers.map(({ name, port }) => EtcdMember.create({ name, peerPort: port, cluster })),
  );
  for (const member of members) member.spawn();
  await Promise.all(members.map((member) => member.ready()));
  return members;
}
