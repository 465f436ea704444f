import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "../network/network.ts";
import { ApiClient } from "./api-client.ts";
import type { ClusterSize } from "./cluster-size.ts";
import type { Endpoint } from "./connection.ts";
import { EtcdCluster } from "./etcd-cluster.ts";
import type { Launch } from "./launch.ts";
import { apiPort, Member, peerPort } from "./member.ts";
import { MemberDisk } from "./member-disk.ts";
import { within } from "./within.ts";

export interface ClusterOptions extends ClusterSize {
  readonly launch: Launch;
  /** Directory for disks and logs. */
  readonly directory: string;
  readonly network: Network;
  /** Whether faults move the members' clocks. */
  readonly movesClocks: boolean;
}

interface ClusterParts {
  readonly members: readonly Member[];
  readonly etcd: EtcdCluster | undefined;
  readonly network: Network;
}

/** The parts of `/cluster/status` that the harness uses. */
export interface MemberStatus {
  readonly self: number;
  readonly role: "leader" | "voter" | "learner" | "candidate" | "removed";
  readonly term: number;
  readonly appliedIndex: number;
  readonly revision: number;
  readonly stateHash: string;
  readonly failure?: string;
  readonly members: readonly { readonly id: number; readonly name: string }[];
}

const readyMsMax = 30_000;
/** Time after which a member without an answer counts as silent. */
const statusMsMax = 1_500;
const leaderMsMax = 4_000;
/** Time for which a machine retries to join. */
const joinMsMax = 60_000;

/** Files that servers on one etcd share. Each has a certificate of its own for serving. */
const sharedFiles = ["ca.crt", "ca.key", "sa.key", "token"];

/** The members of a run, their etcd if they have one, and their clients. */
export class Cluster implements AsyncDisposable {
  readonly members: readonly Member[];
  readonly etcd: EtcdCluster | undefined;
  readonly network: Network;
  readonly #credentials: { readonly ca: string; readonly token: string };
  readonly #probes = new Map<number, ApiClient>();

  private constructor(parts: ClusterParts, credentials: { ca: string; token: string }) {
    this.members = parts.members;
    this.etcd = parts.etcd;
    this.network = parts.network;
    this.#credentials = credentials;
  }

  /**
   * Creates the disks, starts etcd if there is one and then the first member, lets the others join it, and waits until
   * all are ready and vote.
   */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { network, etcdMembers } = options;
    const members: Member[] = [];
    let etcd: EtcdCluster | undefined;
    try {
      if (etcdMembers > 0) etcd = await EtcdCluster.start({ ...options, firstPort: options.members + 1 });
      for (let number = 1; number <= options.members; number++) members.push(makeMember(options, etcd, number));
      const [first, ...others] = members as [Member, ...Member[]];
      await first.start(members.length === 1 || etcd !== undefined ? ["up"] : ["cluster", "init"]);
      const cluster = new Cluster({ members, etcd, network }, await credentialsOf(first));
      if (!(await cluster.isReadyWithin(1, readyMsMax))) throw new Error("m1 did not become ready: see its log");
      for (const other of others) {
        const isIn = etcd === undefined ? cluster.join(other.number) : cluster.#startLike(first, other);
        if (!(await isIn)) throw new Error(`${other.name} did not join: see its log`);
      }
      return cluster;
    } catch (error) {
      await closeAll(members);
      await etcd?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** All processes of the run. */
  get processes(): readonly Member[] {
    return [...this.members, ...(this.etcd?.members ?? [])];
  }

  endpointOf(number: number): Endpoint {
    return { host: this.member(number).host, port: apiPort, ...this.#credentials };
  }

  member(number: number): Member {
    return this.members[number - 1] as Member;
  }

  /** Returns a client for questions of the harness itself, which are not part of the checked history. */
  probe(number: number): ApiClient {
    const known = this.#probes.get(number) ?? new ApiClient(this.endpointOf(number));
    this.#probes.set(number, known);
    return known;
  }

  async isReady(number: number): Promise<boolean> {
    return (await this.probe(number).ask("GET", "/readyz")) !== undefined;
  }

  async isReadyWithin(number: number, timeoutMs: number): Promise<boolean> {
    return within(timeoutMs, () => this.isReady(number));
  }

  /** Returns the status, or undefined without an answer. */
  async status(number: number): Promise<MemberStatus | undefined> {
    const { host, port, ca, token } = this.endpointOf(number);
    // Use a separate connection, because a question may be pending on the probe's.
    using client = new ApiClient({ host, port, ca, token });
    return (await client.ask("GET", "/cluster/status", undefined, statusMsMax)) as MemberStatus | undefined;
  }

  /** Returns the number of the leader, or undefined while it is unknown. */
  async leader(): Promise<number | undefined> {
    if (this.members.length === 1) return 1;
    let leader: number | undefined;
    await within(leaderMsMax, async () => {
      const known = await Promise.all(
        this.members.map(async ({ number }) => ({ number, status: await this.status(number) })),
      );
      const leading = known
        .filter(({ status }) => status?.role === "leader")
        .sort((left, right) => (right.status?.term ?? 0) - (left.status?.term ?? 0));
      leader = leading[0]?.number;
      return leader !== undefined;
    });
    return leader;
  }

  /** Makes the machine a member with a token of its own, with retries. Returns true once it votes. */
  async join(number: number): Promise<boolean> {
    const member = this.member(number);
    return within(joinMsMax, async () => {
      const command = await this.#joinCommand();
      if (command === undefined) return false;
      await member.kill();
      member.wipe();
      // An interrupted attempt may have been recorded.
      const ghost = (await this.status(command.leader))?.members.find(({ name }) => name === member.name);
      if (ghost !== undefined && !(await this.remove(ghost.id))) return false;
      await member.start(command.words);
      let votes = false;
      await within(readyMsMax, async () => {
        votes = await this.#votes(number);
        return votes || !member.isRunning;
      });
      return votes;
    });
  }

  /** Starts a server on etcd with the keys of another one. Returns true once it is ready. */
  async #startLike(model: Member, member: Member): Promise<boolean> {
    const [from, to] = [model, member].map(({ dataDirectory }) => join(dataDirectory, "pki")) as [string, string];
    mkdirSync(to, { mode: 0o700 });
    for (const name of sharedFiles) copyToDisk(join(from, name), join(to, name));
    await member.start();
    return this.isReadyWithin(member.number, readyMsMax);
  }

  async #votes(number: number): Promise<boolean> {
    const role = (await this.status(number))?.role;
    return (role === "voter" || role === "leader") && (await this.isReady(number));
  }

  /** Returns undefined if no member issues a token now. */
  async #joinCommand(): Promise<{ readonly leader: number; readonly words: readonly string[] } | undefined> {
    const leader = await this.leader();
    if (leader === undefined) return undefined;
    const invitation = (await this.probe(leader).ask("POST", "/cluster/tokens", {})) as
      | { readonly token: string; readonly caHash: string }
      | undefined;
    if (invitation === undefined) return undefined;
    const url = `https://${this.member(leader).host}:${apiPort}`;
    const words = ["cluster", "join", url, "--token", invitation.token, "--ca-hash", invitation.caHash];
    return { leader, words };
  }

  /** Removes a member, as an administrator does after the loss of a machine. Returns false if it stays. */
  async remove(id: number): Promise<boolean> {
    return within(readyMsMax, async () => {
      const leader = await this.leader();
      if (leader === undefined) return false;
      await this.probe(leader).ask("DELETE", `/cluster/members/${id}`);
      const status = await this.status(leader);
      return status !== undefined && status.members.every((member) => member.id !== id);
    });
  }

  /**
   * Acts as supervisor and administrator after all faults: starts members that do not run, as often as they end, and
   * restarts members that do not become ready once. Returns the names of those that are still not ready in time.
   */
  async heal(timeoutMs = readyMsMax): Promise<string[]> {
    const lateEtcd = (await this.etcd?.heal()) ?? [];
    const late = await Promise.all(
      this.members.map(async (member) => {
        if (await this.#isReadySupervised(member, timeoutMs / 3)) return [];
        await member.kill();
        return (await this.#isReadySupervised(member, timeoutMs)) ? [] : [member.name];
      }),
    );
    return [...lateEtcd, ...late.flat()];
  }

  #isReadySupervised(member: Member, timeoutMs: number): Promise<boolean> {
    return within(timeoutMs, async () => {
      await member.start();
      return this.isReady(member.number);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const probe of this.#probes.values()) probe[Symbol.dispose]();
    await closeAll(this.members);
    await this.etcd?.[Symbol.asyncDispose]();
  }
}

function makeMember(
  { members, servingProcesses, directory, launch, network, movesClocks }: ClusterOptions,
  etcd: EtcdCluster | undefined,
  number: number,
): Member {
  const disk = new MemberDisk(join(directory, `disk-${number}`));
  const host = network.addressOf(number);
  const clockFile = movesClocks ? join(directory, `clock-${number}`) : undefined;
  if (clockFile !== undefined) writeFileSync(clockFile, "+0\n");
  const data = join(disk.directory, "data");
  mkdirSync(data, { mode: 0o700 });
  const serving = ["--data-dir", data, "--bind-address", host, "--secure-port", String(apiPort)];
  if (servingProcesses > 0) serving.push("--serving-processes", String(servingProcesses));
  if (etcd !== undefined) serving.push("--etcd-servers", etcd.urls.join(","));
  const joining = ["--peer-address", `${host}:${peerPort}`, "--member-name", `m${number}`];
  const isAlone = members === 1 || etcd !== undefined;
  return new Member({
    number,
    name: `m${number}`,
    host,
    namespace: network.namespaceOf(number),
    disk,
    launch,
    command: ["up"],
    flags: isAlone ? serving : [...serving, ...joining],
    logFile: join(directory, `member-${number}.log`),
    clockFile,
  });
}

/** Reads the credentials from the first member's kubeconfig. */
async function credentialsOf(member: Member): Promise<{ ca: string; token: string }> {
  let found: { ca: string; token: string } | undefined;
  await within(readyMsMax, async () => {
    const text = readIfThere(join(member.dataDirectory, "kubeconfig"));
    const ca = /certificate-authority-data: "?([^"\s]+)/.exec(text)?.[1];
    const token = /\btoken: "?([^"\s]+)/.exec(text)?.[1];
    if (ca !== undefined && token !== undefined) found = { ca: Buffer.from(ca, "base64").toString(), token };
    return found !== undefined || !member.isRunning;
  });
  if (found === undefined) throw new Error(`${member.name} wrote no kubeconfig: see its log`);
  return found;
}

/** Copies a private file, and syncs it, so that it survives a power cut. */
function copyToDisk(from: string, to: string): void {
  const file = openSync(to, "w", 0o600);
  try {
    writeFileSync(file, readFileSync(from));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

async function closeAll(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map((member) => member.kill()));
  for (const { disk } of members) disk.close();
}
