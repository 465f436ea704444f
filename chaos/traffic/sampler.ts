import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { History } from "../history/history.ts";
import type { WatchRecord } from "../history/watch-record.ts";
import { colors } from "./config-map.ts";
import { watch } from "./watch-stream.ts";
import type { Worker } from "./worker.ts";

/** Distances of a watch's start before and after the revisions that it has seen. */
const backMax = 100;
const aheadMax = 20;
const afterFailureMs = 150;

/** Opens short watches at any revision, past and future, with and without a filter. */
export class Sampler implements Worker {
  readonly #name: string;
  readonly #cluster: Cluster;
  readonly #history: History;
  readonly #random: SeededRandom;
  #newest: number;

  /** @param revision an existing revision */
  constructor(name: string, cluster: Cluster, history: History, random: SeededRandom, revision: number) {
    this.#name = name;
    this.#cluster = cluster;
    this.#history = history;
    this.#random = random;
    this.#newest = revision;
  }

  async run(stop: AbortSignal): Promise<void> {
    const first = this.#newest;
    while (!stop.aborted) {
      const member = 1 + this.#random.below(this.#cluster.members.length);
      const from = Math.max(first, this.#newest - backMax + this.#random.below(backMax + aheadMax));
      const color = this.#random.chance(500) ? this.#random.pick(colors) : undefined;
      const record: WatchRecord = { watcher: this.#name, member, color, from, events: [], until: from };
      this.#history.watches.push(record);
      await watch(this.#cluster, { member, from, color, timeoutSeconds: 1 }, record, stop);
      // A start in the future does not name an existing revision.
      if (record.events.length > 0) this.#newest = Math.max(this.#newest, record.until);
      else if (!stop.aborted) await Bun.sleep(afterFailureMs);
    }
  }
}
