import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { History } from "../history/history.ts";
import type { Observed } from "../history/operation.ts";
import type { InformerState, WatchRecord } from "../history/watch-record.ts";
import { type ConfigMapList, observeAll, path } from "./config-map.ts";
import { RecordingClient } from "./recording-client.ts";
import { watch } from "./watch-stream.ts";
import type { Worker } from "./worker.ts";

const secondsMin = 2;
const secondsMax = 8;
const afterFailureMs = 80;

/** Lists once, watches from there, and continues from its revision at another member when a watch ends. */
export class Informer implements Worker {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #history: History;
  readonly #random: SeededRandom;
  readonly color: string | undefined;
  readonly #objects = new Map<string, Observed>();
  #revision = 0;
  #lists = 0;

  constructor(name: string, cluster: Cluster, history: History, random: SeededRandom, color: string | undefined) {
    this.name = name;
    this.#cluster = cluster;
    this.#history = history;
    this.#random = random;
    this.color = color;
  }

  get state(): InformerState {
    return {
      watcher: this.name,
      revision: this.#revision,
      objects: [...this.#objects.values()],
      lists: this.#lists,
    };
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const member = 1 + this.#random.below(this.#cluster.members.length);
      const went = this.#revision === 0 ? await this.#list(member) : await this.#watch(member, stop);
      if (!went && !stop.aborted) await Bun.sleep(afterFailureMs);
    }
  }

  async #list(member: number): Promise<boolean> {
    using client = new RecordingClient(this.name, this.#cluster, this.#history, member);
    const selector = this.color === undefined ? "" : `?labelSelector=color%3D${this.color}`;
    const reply = await client.ask("GET", path + selector);
    if (reply.kind !== "answer" || reply.answer.code !== 200) return false;
    const list = JSON.parse(reply.answer.body) as ConfigMapList;
    this.#lists++;
    this.#revision = Number(list.metadata.resourceVersion);
    this.#objects.clear();
    for (const { elements: _, ...object } of observeAll(list)) this.#objects.set(object.key, object);
    return true;
  }

  /** Watches once. Returns false if no watch was established. */
  async #watch(member: number, stop: AbortSignal): Promise<boolean> {
    const record: WatchRecord = {
      watcher: this.name,
      member,
      color: this.color,
      from: this.#revision,
      events: [],
      until: this.#revision,
    };
    this.#history.watches.push(record);
    const timeoutSeconds = this.#random.between(secondsMin, secondsMax);
    const request = { member, from: this.#revision, color: this.color, timeoutSeconds };
    const end = await watch(this.#cluster, request, record, stop, ({ type, object }) => {
      if (type === "DELETED") this.#objects.delete(object.key);
      else this.#objects.set(object.key, object);
      this.#revision = Math.max(this.#revision, object.revision);
    });
    this.#revision = Math.max(this.#revision, record.until);
    if (end.kind === "expired") this.#revision = 0;
    return record.until > record.from && end.kind === "ended";
  }
}
