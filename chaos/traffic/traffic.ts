import { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { FinalState, History } from "../history/history.ts";
import { colors, type ConfigMapList, namespace, observeAll, path } from "./config-map.ts";
import { Informer } from "./informer.ts";
import { Lister } from "./lister.ts";
import { RecordingClient } from "./recording-client.ts";
import { RegisterWriter } from "./register-writer.ts";
import { Sampler } from "./sampler.ts";
import { SetAppender } from "./set-appender.ts";
import type { Worker } from "./worker.ts";
import { watch } from "./watch-stream.ts";
import type { WatchRecord } from "../history/watch-record.ts";

const registerKeys = Array.from({ length: 8 }, (_, number) => `register-${number}`);
const setKeys = ["set-0", "set-1"];
const writersPinned = 6;
const writersRoaming = 2;
const appenders = 2;
const listers = 2;
const samplers = 2;
/** So long may everybody take to have what was written last. */
const catchUpMsMax = 15_000;
const retryMs = 50;

/** All clients of a run. */
export class Traffic {
  readonly #cluster: Cluster;
  readonly #history: History;
  readonly #random: SeededRandom;
  readonly #stopWriting = new AbortController();
  readonly #stopWatching = new AbortController();
  readonly #clients: RecordingClient[] = [];
  readonly #informers: Informer[] = [];
  /** Revision of what was written last, by color. */
  readonly #fences = new Map<string | undefined, number>();
  #writing: Promise<unknown> = Promise.resolve();
  #watching: Promise<unknown> = Promise.resolve();
  /** The revision before the first object. */
  #from = 0;

  constructor(cluster: Cluster, history: History, seed: number) {
    this.#cluster = cluster;
    this.#history = history;
    this.#random = new SeededRandom(seed);
  }

  get from(): number {
    return this.#from;
  }

  async start(): Promise<void> {
    this.#from = await this.#makeNamespace();
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
   * Ends the writing, lets everybody catch up, and reads from every member what it holds and everything that happened.
   * Gives what did not come about in time.
   */
  async finish(): Promise<string[]> {
    this.#stopWriting.abort();
    await this.#writing;
    const problems: string[] = [];
    const fence = await this.#writeFences(problems);
    const deadlineMs = performance.now() + catchUpMsMax;
    for (const { member, number } of this.#cluster.members.map((one) => ({ member: one.name, number: one.number }))) {
      const final = await this.#finalState(number, deadlineMs);
      if (final === undefined || final.revision < fence) problems.push(`${member} does not have revision ${fence}`);
      else this.#history.finals.push(final);
      if (!(await this.#replay(number, fence, deadlineMs))) problems.push(`${member} does not tell its whole history`);
    }
    for (const informer of this.#informers) {
      const due = this.#fences.get(informer.color) ?? fence;
      while (informer.state.revision < due && performance.now() < deadlineMs) await Bun.sleep(retryMs);
      if (informer.state.revision < due) problems.push(`${informer.name} is at ${informer.state.revision}, not ${due}`);
    }
    await this.stop();
    this.#history.informers.push(...this.#informers.map(({ state }) => state));
    return problems;
  }

  async stop(): Promise<void> {
    this.#stopWriting.abort();
    this.#stopWatching.abort();
    await Promise.all([this.#writing, this.#watching]);
    for (const client of this.#clients) client[Symbol.dispose]();
  }

  /** One object of each color, so that every watch has something to hear of. Gives the newest revision. */
  async #writeFences(problems: string[]): Promise<number> {
    const client = this.#client("fence", 1);
    let newest = 0;
    for (const color of colors) {
      const deadlineMs = performance.now() + catchUpMsMax;
      for (let attempt = 0; performance.now() < deadlineMs; attempt++) {
        client.moveTo(1 + (attempt % this.#cluster.members.length));
        const value = `fence-${color}-${attempt}`;
        const { object } = await client.perform(`fence-${color}-${attempt}`, { verb: "create", value, color });
        if (object !== undefined) {
          this.#fences.set(color, object.revision);
          newest = Math.max(newest, object.revision);
          break;
        }
        await Bun.sleep(retryMs);
      }
      if (!this.#fences.has(color)) problems.push(`nothing could be written in the end`);
    }
    return newest;
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

  /** Everything from the beginning, as this member tells it. False when it does not, all of it. */
  async #replay(member: number, until: number, deadlineMs: number): Promise<boolean> {
    const stop = new AbortController();
    const from = this.#from;
    const watcher = `replay-${member}`;
    while (performance.now() < deadlineMs) {
      const record: WatchRecord = { watcher, member, color: undefined, from, events: [], until: from };
      const end = await watch(
        this.#cluster,
        { member, from, color: undefined, timeoutSeconds: 2 },
        record,
        stop.signal,
      );
      if (end.kind === "expired") return true;
      if (record.until < until) continue;
      this.#history.watches.push(record);
      return true;
    }
    return false;
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
    throw new Error("the namespace could not be made");
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
