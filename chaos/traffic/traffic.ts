import { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Member } from "../cluster/member.ts";
import type { FinalState, History } from "../history/history.ts";
import type { WatchRecord } from "../history/watch-record.ts";
import { type ConfigMapList, colors, namespace, observeAll, path } from "./config-map.ts";
import { Informer } from "./informer.ts";
import { Lister } from "./lister.ts";
import { RecordingClient } from "./recording-client.ts";
import { RegisterWriter } from "./register-writer.ts";
import { Sampler } from "./sampler.ts";
import { SetAppender } from "./set-appender.ts";
import { watch } from "./watch-stream.ts";
import type { Worker } from "./worker.ts";

const registerKeys = Array.from({ length: 8 }, (_, number) => `register-${number}`);
const setKeys = ["set-0", "set-1"];
const writersPinned = 6;
const writersRoaming = 2;
const appenders = 2;
const listers = 2;
const samplers = 2;
/** Time for every client to receive the last write. */
const catchUpMsMax = 15_000;
const retryMs = 50;
/** Time for a member to return its history. */
const replaySeconds = 6;

/** The history that a member returned, up to a revision; or it has no longer all of it. */
type Replay = { readonly kind: "complete"; readonly until: number } | { readonly kind: "expired" };

/** All clients of a run. */
export class Traffic {
  readonly #cluster: Cluster;
  readonly #history: History;
  readonly #random: SeededRandom;
  readonly #stopWriting = new AbortController();
  readonly #stopWatching = new AbortController();
  readonly #clients: RecordingClient[] = [];
  readonly #informers: Informer[] = [];
  /** Revision of the last write, by color. */
  readonly #fences = new Map<string | undefined, number>();
  #writing: Promise<unknown> = Promise.resolve();
  #watching: Promise<unknown> = Promise.resolve();
  #fenceCount = 0;
  /** Revision before the first object. */
  #from = 0;
  /** Revision of the last object. */
  #until = 0;
  /** Revision up to which the history was recorded, because it may be gone at the end. */
  #recorded = 0;

  constructor(cluster: Cluster, history: History, seed: number) {
    this.#cluster = cluster;
    this.#history = history;
    this.#random = new SeededRandom(seed);
  }

  /** Revisions before the first object and of the last one. */
  get span(): { readonly from: number; readonly until: number } {
    return { from: this.#from, until: this.#until };
  }

  async start(): Promise<void> {
    this.#from = await this.#makeNamespace();
    this.#recorded = this.#from;
    const members = this.#cluster.members.length;
    const writers: Worker[] = [];
    for (let number = 0; number < writersPinned + writersRoaming; number++) {
      const pinnedTo = number < writersPinned ? 1 + (number % members) : undefined;
      const client = this.#client(`w${number}`, pinnedTo ?? 1);
      const keep = this.#history.cachedReads;
      writers.push(
        new RegisterWriter(client, this.#fork(), { members, pinnedTo }, registerKeys, (read) => keep.push(read)),
      );
    }
    for (let number = 0; number < appenders; number++) {
      const roaming = { members, pinnedTo: number === 0 ? members : undefined };
      writers.push(new SetAppender(this.#client(`s${number}`, roaming.pinnedTo ?? 1), this.#fork(), roaming, setKeys));
    }
    for (let number = 0; number < listers; number++) {
      const client = this.#client(`l${number}`, 1 + (number % members));
      writers.push(new Lister(client, this.#fork(), members, (read) => this.#history.lists.push(read)));
    }
    const filters = [undefined, undefined, undefined, ...colors];
    for (const [number, color] of filters.entries()) {
      this.#informers.push(new Informer(`i${number}`, this.#cluster, this.#history, this.#fork(), color));
    }
    const watchers: Worker[] = [...this.#informers];
    for (let number = 0; number < samplers; number++) {
      watchers.push(new Sampler(`p${number}`, this.#cluster, this.#history, this.#fork(), this.#from));
    }
    this.#writing = Promise.all(writers.map((worker) => worker.run(this.#stopWriting.signal)));
    this.#watching = Promise.all(watchers.map((worker) => worker.run(this.#stopWatching.signal)));
  }

  /**
   * Records the changes so far. Returns the revision up to which they are recorded.
   * @param except a member that need not be asked
   */
  async recordHistory(except?: Member): Promise<number> {
    const members = this.#cluster.members.filter((member) => member !== except);
    const deadlineMs = performance.now() + catchUpMsMax;
    for (let attempt = 0; performance.now() < deadlineMs; attempt++) {
      const { number } = members[attempt % members.length] as Member;
      const list = (await this.#cluster.probe(number).ask("GET", path)) as ConfigMapList | undefined;
      if (list !== undefined) {
        const until = Math.max(this.#recorded, ...observeAll(list).map(({ revision }) => revision));
        const replayed = await this.#replay(number, until, performance.now());
        if (replayed?.kind === "complete") {
          this.#recorded = replayed.until;
          break;
        }
      }
      await Bun.sleep(retryMs);
    }
    return this.#recorded;
  }

  /**
   * Ends the writes, waits until all clients have caught up, and reads the contents and the whole history of every
   * member. Returns the problems.
   */
  async finish(): Promise<string[]> {
    this.#stopWriting.abort();
    await this.#writing;
    const problems: string[] = [];
    for (const color of colors) await this.#writeFence(color, problems);
    const deadlineMs = performance.now() + catchUpMsMax;
    for (const informer of this.#informers) {
      const due = this.#fences.get(informer.color) ?? this.#until;
      while (informer.state.revision < due && performance.now() < deadlineMs) await Bun.sleep(retryMs);
      if (informer.state.revision < due) problems.push(`${informer.name} is at ${informer.state.revision}, not ${due}`);
    }
    await this.stop();
    this.#history.informers.push(...this.#informers.map(({ state }) => state));
    // This revision is later than every event that a watch has received.
    await this.#writeFence(colors[0], problems);
    await Promise.all(this.#cluster.members.map((member) => this.#readAll(member, problems)));
    return problems;
  }

  async stop(): Promise<void> {
    this.#stopWriting.abort();
    this.#stopWatching.abort();
    await Promise.all([this.#writing, this.#watching]);
    for (const client of this.#clients) client[Symbol.dispose]();
  }

  /** Writes an object after all other writes, so that clients have a revision to wait for. */
  async #writeFence(color: string, problems: string[]): Promise<void> {
    using client = new RecordingClient("fence", this.#cluster, this.#history, 1);
    const deadlineMs = performance.now() + catchUpMsMax;
    while (performance.now() < deadlineMs) {
      const number = ++this.#fenceCount;
      client.moveTo(1 + (number % this.#cluster.members.length));
      const value = `fence-${number}`;
      const { object } = await client.perform(value, { verb: "create", value, color });
      if (object !== undefined) {
        this.#fences.set(color, object.revision);
        this.#until = object.revision;
        return;
      }
      await Bun.sleep(retryMs);
    }
    problems.push("the last write failed");
  }

  async #readAll({ name, number }: Member, problems: string[]): Promise<void> {
    const deadlineMs = performance.now() + catchUpMsMax;
    const final = await this.#finalState(number, deadlineMs);
    if (final === undefined || final.revision < this.#until) problems.push(`${name} does not have ${this.#until}`);
    else this.#history.finals.push(final);
    const replayed = await this.#replay(number, this.#until, deadlineMs);
    if (replayed === undefined) problems.push(`${name} did not return its history`);
  }

  async #finalState(member: number, deadlineMs: number): Promise<FinalState | undefined> {
    do {
      const list = (await this.#cluster.probe(member).ask("GET", path)) as ConfigMapList | undefined;
      if (list !== undefined) {
        return { member, revision: Number(list.metadata.resourceVersion), objects: observeAll(list) };
      }
      await Bun.sleep(retryMs);
    } while (performance.now() < deadlineMs);
    return undefined;
  }

  /** Reads the history that is not yet recorded from this member. Returns undefined if it is incomplete. */
  async #replay(member: number, until: number, deadlineMs: number): Promise<Replay | undefined> {
    const from = this.#recorded;
    const watcher = `replay-${member}`;
    do {
      const stop = new AbortController();
      const record: WatchRecord = { watcher, member, color: undefined, from, events: [], until: from };
      const end = await watch(
        this.#cluster,
        { member, from, color: undefined, timeoutSeconds: replaySeconds },
        record,
        stop.signal,
        ({ object }) => {
          if (object.revision >= until) stop.abort();
        },
      );
      if (end.kind === "expired") return end;
      if (record.until < until) continue;
      this.#history.watches.push(record);
      return { kind: "complete", until: record.until };
    } while (performance.now() < deadlineMs);
    return undefined;
  }

  async #makeNamespace(): Promise<number> {
    const deadlineMs = performance.now() + catchUpMsMax;
    while (performance.now() < deadlineMs) {
      const probe = this.#cluster.probe(1);
      await probe.ask("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
      const list = (await probe.ask("GET", path)) as ConfigMapList | undefined;
      const isThere = (await probe.ask("GET", `/api/v1/namespaces/${namespace}`)) !== undefined;
      if (list !== undefined && isThere) return Number(list.metadata.resourceVersion);
      await Bun.sleep(retryMs);
    }
    throw new Error("the namespace could not be created");
  }

  #client(name: string, member: number): RecordingClient {
    const client = new RecordingClient(name, this.#cluster, this.#history, member);
    this.#clients.push(client);
    return client;
  }

  #fork(): SeededRandom {
    return new SeededRandom(this.#random.next());
  }
}
