import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "../network/network.ts";
import { ApiClient } from "./api-client.ts";
import type { Endpoint } from "./connection.ts";
import type { Launch } from "./launch.ts";
import { apiPort, Member, peerPort } from "./member.ts";
import { MemberDisk } from "./member-disk.ts";

export interface ClusterOptions {
  readonly members: number;
  readonly launch: Launch;
  /** Directory for disks and logs. */
  readonly directory: string;
  readonly network: Network;
  /** Whether faults move the members' clocks. */
  readonly movesClocks: boolean;
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
const probeMs = 50;
/** Time after which a member without an answer counts as silent. */
const statusMsMax = 1_500;
const leaderMsMax = 4_000;
/** Time for which a machine retries to join. */
const joinMsMax = 60_000;

/** The members of a run and their clients. */
export class Cluster implements AsyncDisposable {
  readonly members: readonly Member[];
  readonly network: Network;
  readonly #credentials: { readonly ca: string; readonly token: string };
  readonly #probes = new Map<number, ApiClient>();

  private constructor(members: readonly Member[], network: Network, credentials: { ca: string; token: string }) {
    this.members = members;
    this.network = network;
    this.#credentials = credentials;
  }

  /** Creates the disks, starts the first member, lets the others join it, and waits until all are ready and vote. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const members: Member[] = [];
    try {
      for (let number = 1; number <= options.members; number++) members.push(makeMember(options, number));
      const [first, ...others] = members as [Member];
      await first.start(members.length === 1 ? ["up"] : ["cluster", "init"]);
      const cluster = new Cluster(members, options.network, await credentialsOf(first));
      if (!(await cluster.isReadyWithin(1, readyMsMax))) throw new Error("m1 did not become ready: see its log");
      for (const { number } of others) {
        if (!(await cluster.join(number))) throw new Error(`m${number} did not join: see its log`);
      }
      return cluster;
    } catch (error) {
      await closeAll(members);
      throw error;
    }
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
   * restarts members that do not become ready once. Returns the numbers of those that are still not ready in time.
   */
  async heal(timeoutMs = readyMsMax): Promise<number[]> {
    const late = await Promise.all(
      this.members.map(async (member) => {
        if (await this.#isReadySupervised(member, timeoutMs / 3)) return [];
        await member.kill();
        return (await this.#isReadySupervised(member, timeoutMs)) ? [] : [member.number];
      }),
    );
    return late.flat();
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
  }
}

/** Repeats an attempt until it returns true. Returns false after the timeout. */
export async function within(timeoutMs: number, attempt: () => Promise<boolean>): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  do {
    if (await attempt()) return true;
    await Bun.sleep(probeMs);
  } while (performance.now() < deadlineMs);
  return false;
}

function makeMember({ members, directory, launch, network, movesClocks }: ClusterOptions, number: number): Member {
  const disk = new MemberDisk(join(directory, `disk-${number}`));
  const host = network.addressOf(number);
  const clockFile = movesClocks ? join(directory, `clock-${number}`) : undefined;
  if (clockFile !== undefined) writeFileSync(clockFile, "+0\n");
  const data = join(disk.directory, "data");
  mkdirSync(data, { mode: 0o700 });
  const serving = ["--data-dir", data, "--bind-address", host, "--secure-port", String(apiPort)];
  const joining = ["--peer-address", `${host}:${peerPort}`, "--member-name", `m${number}`];
  return new Member({
    number,
    host,
    namespace: network.namespaceOf(number),
    disk,
    launch,
    flags: members === 1 ? serving : [...serving, ...joining],
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
