import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "../network/network.ts";
import { Member } from "./member.ts";
import { MemberDisk } from "./member-disk.ts";
import { within } from "./within.ts";

export interface EtcdClusterOptions {
  readonly etcdMembers: number;
  /** Port of the first member at the switch. */
  readonly firstPort: number;
  /** Directory for disks and logs. */
  readonly directory: string;
  readonly network: Network;
}

/** The parts of etcd's answers that the harness uses. 64-bit numbers are text. */
interface EtcdAnswer {
  readonly header?: { readonly member_id: string };
  readonly leader?: string;
  readonly alarms?: readonly { readonly memberID: string; readonly alarm: string }[];
}

const clientPort = 2379;
const peerPort = 2380;
const readyMsMax = 30_000;
const requestMsMax = 2_000;
/** A defragmentation blocks its member. */
const defragmentMsMax = 20_000;
/** Maximum size of the database: small, so that it is soon full. */
const quotaBytes = 16 << 20;
const fillerBytes = 1 << 20;
const fillersMax = 200;
const fillerPrefix = "/filler/";
const fillerEnd = "/filler0";

/** The members of the etcd that keeps the objects of a run. Requests go to etcd's JSON gateway. */
export class EtcdCluster implements AsyncDisposable {
  readonly members: readonly Member[];

  private constructor(members: readonly Member[]) {
    this.members = members;
  }

  /** Starts all members, and waits until they have a leader. */
  static async start({ etcdMembers, firstPort, directory, network }: EtcdClusterOptions): Promise<EtcdCluster> {
    const numbers = Array.from({ length: etcdMembers }, (_, place) => firstPort + place);
    const peers = numbers.map((port, place) => `e${place + 1}=http://${network.addressOf(port)}:${peerPort}`);
    const cluster = new EtcdCluster(
      numbers.map((port, place) => makeMember({ port, name: `e${place + 1}`, peers, directory, network })),
    );
    try {
      if ((await cluster.heal()).length > 0) throw new Error("etcd did not start: see its logs");
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  get urls(): readonly string[] {
    return this.members.map(urlOf);
  }

  /** Returns the leader, or undefined while no member knows it. */
  async leader(): Promise<Member | undefined> {
    let leader: Member | undefined;
    await within(requestMsMax, async () => {
      const known = await Promise.all(
        this.members.map(async (member) => ({ member, status: await ask(member, "maintenance/status") })),
      );
      leader = known.find(({ status }) => status !== undefined && status.header?.member_id === status.leader)?.member;
      return leader !== undefined;
    });
    return leader;
  }

  /** Makes a member the leader. */
  async moveLeader(to: Member): Promise<void> {
    const id = (await ask(to, "maintenance/status"))?.header?.member_id;
    const leader = await this.leader();
    if (leader !== undefined) await ask(leader, "maintenance/transfer-leadership", { targetID: id });
  }

  /** Removes the history before a revision, unless that has been done. */
  async compact(revision: number): Promise<void> {
    await this.#askAny("kv/compaction", { revision: String(revision) });
  }

  async defragment(member: Member): Promise<void> {
    await ask(member, "maintenance/defragment", {}, defragmentMsMax);
  }

  /** Writes values of its own until the database is full. Returns their number. */
  async fill(): Promise<number> {
    const value = Buffer.alloc(fillerBytes).toString("base64");
    for (let number = 0; number < fillersMax; number++) {
      const key = base64(`${fillerPrefix}${number}`);
      if ((await this.#askAny("kv/put", { key, value })) === undefined) return number;
    }
    return fillersMax;
  }

  /**
   * Makes room again, as an administrator does: removes the values and their history, defragments, and disarms the alarm.
   * @param revision returns the revision before which the history can be removed
   */
  async drain(revision: () => Promise<number>): Promise<void> {
    const isDone = await within(readyMsMax, async () => {
      const range = { key: base64(fillerPrefix), range_end: base64(fillerEnd) };
      if ((await this.#askAny("kv/deleterange", range)) === undefined) return false;
      await this.compact(await revision());
      for (const member of this.members) await this.defragment(member);
      const alarms = (await this.#askAny("maintenance/alarm", {}))?.alarms ?? [];
      for (const alarm of alarms) await this.#askAny("maintenance/alarm", { action: "DEACTIVATE", ...alarm });
      return (await this.#askAny("kv/put", { key: base64(fillerPrefix) })) !== undefined;
    });
    if (!isDone) throw new Error("etcd remained full");
  }

  /** Starts members that do not run. Returns the names of those that are not ready in time. */
  async heal(): Promise<string[]> {
    const late = await Promise.all(
      this.members.map(async (member) => {
        const isReady = await within(readyMsMax, async () => {
          await member.start();
          // A range is answered only with a quorum.
          return (await ask(member, "kv/range", { key: base64("ready") })) !== undefined;
        });
        return isReady ? [] : [member.name];
      }),
    );
    return late.flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    for (const { disk } of this.members) disk.close();
  }

  /** Asks one member after another. Returns undefined if none accepts the request. */
  async #askAny(path: string, body: unknown): Promise<EtcdAnswer | undefined> {
    for (const member of this.members) {
      const answer = await ask(member, path, body);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }
}

interface NewMember {
  readonly port: number;
  readonly name: string;
  readonly peers: readonly string[];
  readonly directory: string;
  readonly network: Network;
}

function makeMember({ port, name, peers, directory, network }: NewMember): Member {
  const disk = new MemberDisk(join(directory, `disk-${port}`));
  const data = join(disk.directory, "data");
  mkdirSync(data, { mode: 0o700 });
  const host = network.addressOf(port);
  const [client, peer] = [`http://${host}:${clientPort}`, `http://${host}:${peerPort}`];
  return new Member({
    number: port,
    name,
    host,
    namespace: network.namespaceOf(port),
    disk,
    launch: { command: ["etcd"], environment: {} },
    command: [],
    flags: [
      `--name=${name}`,
      `--data-dir=${data}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${peers.join(",")}`,
      `--quota-backend-bytes=${quotaBytes}`,
      "--log-level=warn",
    ],
    logFile: join(directory, `${name}.log`),
    clockFile: undefined,
  });
}

function urlOf({ host }: Member): string {
  return `http://${host}:${clientPort}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** Returns undefined if the member refuses the request, or does not answer. */
async function ask(
  member: Member,
  path: string,
  body: unknown = {},
  timeoutMs = requestMsMax,
): Promise<EtcdAnswer | undefined> {
  try {
    const response = await fetch(`${urlOf(member)}/v3/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = (await response.json()) as EtcdAnswer;
    return response.ok ? answer : undefined;
  } catch {
    return undefined;
  }
}
