import { join } from "node:path";
import { eventually, MemberProcess } from "../integration/member-process.ts";
import { cpuSeconds, type Served } from "./process.ts";

const slowSync = join(import.meta.dir, "slow-sync.ts");
const sources = join(import.meta.dir, "../../src/main.ts");

export interface ClusterOptions {
  /** The built program; the sources run without it. */
  readonly program?: string;
  /** Directory of all members' data. */
  readonly directory: string;
  readonly members: number;
  /** Further flags of the members. */
  readonly flags?: readonly string[];
  /** Time added to every sync of a log. Such members run the sources, which can be changed as they are loaded. */
  readonly addedSyncMs?: number;
}

/**
 * The members of one cluster on this machine, each a process with its own data directory. They are killed on disposal.
 */
export class BenchCluster implements AsyncDisposable {
  readonly #options: ClusterOptions;
  readonly #members: MemberProcess[] = [];

  private constructor(options: ClusterOptions) {
    this.#options = options;
  }

  /** Creates a cluster without members. */
  static empty(options: ClusterOptions): BenchCluster {
    return new BenchCluster(options);
  }

  /** Starts the members. Resolves when all of them vote. */
  static async start(options: ClusterOptions): Promise<BenchCluster> {
    const cluster = BenchCluster.empty(options);
    const first = await cluster.add();
    await first.start(["cluster", "init", ...(options.flags ?? [])]);
    await cluster.grow(options.members);
    return cluster;
  }

  get members(): readonly MemberProcess[] {
    return this.#members;
  }

  /** Returns a member that was not started yet. */
  async add(): Promise<MemberProcess> {
    const { program, directory, addedSyncMs = 0 } = this.#options;
    const slow = ["env", `QUORATE_BENCH_SYNC_MS=${addedSyncMs}`, process.execPath, "--preload", slowSync, sources];
    const plain = program === undefined ? [process.execPath, sources] : [program];
    const command = addedSyncMs === 0 ? plain : slow;
    const member = await MemberProcess.create(directory, `member${this.#members.length + 1}`, command);
    this.#members.push(member);
    return member;
  }

  /** Adds members until there are `count`, and all of them vote. */
  async grow(count: number): Promise<void> {
    while (this.#members.length < count) {
      const invitation = await this.#first.invitation();
      const member = await this.add();
      await member.start([...invitation, ...(this.#options.flags ?? [])]);
    }
    await this.settled();
  }

  served(member: MemberProcess): Pick<Served, "url" | "token" | "pid"> {
    return { url: member.url, token: this.#first.token, pid: member.pid };
  }

  async leader(): Promise<MemberProcess> {
    return eventually(async () => {
      for (const member of this.#members) {
        const { json } = await member.request("GET", "/cluster/status").catch(() => ({ json: undefined }));
        if (json?.role === "leader") return member;
      }
      return undefined;
    });
  }

  /** Resolves when all members vote, are reachable and have the leader's log. */
  async settled(): Promise<void> {
    await eventually(async () => {
      const { json } = await (await this.leader()).request("GET", "/cluster/status");
      const rest: { role: string; isActive: boolean; matchIndex: number }[] = json.members;
      const isDone = rest.every(
        ({ role, isActive, matchIndex }) => role !== "learner" && isActive && matchIndex >= json.commitIndex - 1_000,
      );
      return rest.length === this.#members.length && isDone ? true : undefined;
    });
  }

  /** Asks the leader to transfer leadership. */
  async transfer(to: MemberProcess): Promise<void> {
    const { code, json } = await to.request("GET", "/cluster/status");
    if (code !== 200) throw new Error(JSON.stringify(json));
    const leader = await this.leader();
    const answer = await leader.request("POST", "/cluster/leader", { to: json.self });
    if (answer.code >= 300) throw new Error(JSON.stringify(answer.json));
  }

  /** Returns the total CPU time of all members. */
  cpuSeconds(): number {
    return this.#members.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((member) => member.stop("SIGKILL")));
  }

  get #first(): MemberProcess {
    const [first] = this.#members;
    if (first === undefined) throw new Error("the cluster has no members");
    return first;
  }
}
