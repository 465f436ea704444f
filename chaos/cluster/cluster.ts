import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "../network/network.ts";
import { ApiClient } from "./api-client.ts";
import type { Endpoint } from "./connection.ts";
import { apiPort, Member } from "./member.ts";
import { MemberDisk } from "./member-disk.ts";

export interface ClusterOptions {
  readonly members: number;
  /** Path of the program, one file. */
  readonly program: string;
  /** For disks and logs. */
  readonly directory: string;
  readonly network: Network;
  /** Whether the members' clocks are to be moved. */
  readonly movesClocks: boolean;
}

const readyMsMax = 30_000;
const probeMs = 50;

/** The members of a run and how to reach them. */
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

  /** Makes the disks, starts the members one after another, and waits until all are ready. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const members: Member[] = [];
    try {
      for (let number = 1; number <= options.members; number++) members.push(makeMember(options, number));
      const [first] = members as [Member];
      await first.start();
      const cluster = new Cluster(members, options.network, await credentialsOf(first));
      if (!(await cluster.isReadyWithin(1, readyMsMax))) throw new Error("m1 did not get ready: see its log");
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

  /** For questions of the harness itself, not of the clients whose history is judged. */
  probe(number: number): ApiClient {
    const known = this.#probes.get(number) ?? new ApiClient(this.endpointOf(number));
    this.#probes.set(number, known);
    return known;
  }

  async isReady(number: number): Promise<boolean> {
    return (await this.probe(number).ask("GET", "/readyz")) !== undefined;
  }

  /** The number of the member that leads; undefined while nobody is known to. */
  async leader(): Promise<number | undefined> {
    return this.members.length === 1 ? 1 : undefined;
  }

  /**
   * Starts whoever does not run and restarts, once, whoever does not get ready; every fault has been undone before.
   * Gives the numbers of those that are not ready in time all the same.
   */
  async heal(timeoutMs = readyMsMax): Promise<number[]> {
    const late = await Promise.all(
      this.members.map(async (member) => {
        await member.start();
        if (await this.isReadyWithin(member.number, timeoutMs / 3)) return [];
        await member.kill();
        await member.start();
        return (await this.isReadyWithin(member.number, timeoutMs)) ? [] : [member.number];
      }),
    );
    return late.flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const probe of this.#probes.values()) probe[Symbol.dispose]();
    await closeAll(this.members);
  }

  async isReadyWithin(number: number, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    do {
      if (await this.isReady(number)) return true;
      await Bun.sleep(probeMs);
    } while (performance.now() < deadlineMs);
    return false;
  }
}

function makeMember({ directory, program, network, movesClocks }: ClusterOptions, number: number): Member {
  const disk = new MemberDisk(join(directory, `disk-${number}`));
  const host = network.addressOf(number);
  const clockFile = movesClocks ? join(directory, `clock-${number}`) : undefined;
  if (clockFile !== undefined) writeFileSync(clockFile, "+0\n");
  const data = join(disk.directory, "data");
  mkdirSync(data, { mode: 0o700 });
  const flags = ["--data-dir", data, "--bind-address", host, "--secure-port", String(apiPort)];
  return new Member({
    number,
    host,
    namespace: network.namespaceOf(number),
    disk,
    command: [process.execPath, program, "up", ...flags],
    logFile: join(directory, `member-${number}.log`),
    clockFile,
  });
}

/** From the kubeconfig that the first member writes. */
async function credentialsOf(member: Member): Promise<{ ca: string; token: string }> {
  const deadlineMs = performance.now() + readyMsMax;
  while (performance.now() < deadlineMs && (member.isRunning || member.deaths === 0)) {
    const text = readIfThere(join(member.dataDirectory, "kubeconfig"));
    const ca = /certificate-authority-data: "?([^"\s]+)/.exec(text)?.[1];
    const token = /\btoken: "?([^"\s]+)/.exec(text)?.[1];
    if (ca !== undefined && token !== undefined) return { ca: Buffer.from(ca, "base64").toString(), token };
    await Bun.sleep(probeMs);
  }
  throw new Error(`${member.name} wrote no kubeconfig: see its log`);
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
