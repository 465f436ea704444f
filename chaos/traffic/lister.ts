import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { FinalObject } from "../history/history.ts";
import type { Freshness, ListRead } from "../history/reads.ts";
import { type ConfigMapList, observeAll, path } from "./config-map.ts";
import { messageOf, type RecordingClient } from "./recording-client.ts";
import type { Worker } from "./worker.ts";

const pauseMsMax = 150;
const pageSizes = [3, 7] as const;

/** Lists in every possible way, page by page too, at one member after another. */
export class Lister implements Worker {
  readonly #client: RecordingClient;
  readonly #random: SeededRandom;
  readonly #members: number;
  readonly #onList: (read: ListRead) => void;
  #newest = 0;

  constructor(client: RecordingClient, random: SeededRandom, members: number, onList: (read: ListRead) => void) {
    this.#client = client;
    this.#random = random;
    this.#members = members;
    this.#onList = onList;
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const read = await this.#list(this.#freshness());
      if (read !== undefined) {
        this.#onList(read);
        this.#newest = Math.max(this.#newest, read.revision);
      }
      if (this.#random.chance(300)) this.#client.moveTo(1 + this.#random.below(this.#members));
      await Bun.sleep(this.#random.below(pauseMsMax));
    }
  }

  #freshness(): Freshness {
    if (this.#newest === 0) return { kind: "consistent" };
    switch (this.#random.below(4)) {
      case 0:
        return { kind: "any" };
      case 1:
        return { kind: "notOlderThan", revision: this.#newest };
      case 2:
        return { kind: "exact", revision: Math.max(1, this.#newest - this.#random.below(20)) };
      default:
        return { kind: "consistent" };
    }
  }

  /** Returns undefined if the answer was incomplete. */
  async #list(freshness: Freshness): Promise<ListRead | undefined> {
    const invokedMs = performance.now();
    const limit = this.#random.chance(400) ? this.#random.pick(pageSizes) : 0;
    const objects: FinalObject[] = [];
    const { member, name } = this.#client;
    let next: string | undefined;
    for (let pages = 1; ; pages++) {
      const reply = await this.#client.ask("GET", path + queryOf(freshness, limit, next));
      if (reply.kind !== "answer") return undefined;
      const { code, body } = reply.answer;
      if (code !== 200) {
        if (code < 500 && code !== 410 && code !== 429) this.#client.surprise(`list: ${code} ${messageOf(body)}`);
        return undefined;
      }
      const list = JSON.parse(body) as ConfigMapList;
      objects.push(...observeAll(list));
      next = list.metadata.continue;
      if (next !== undefined && next !== "") continue;
      const revision = Number(list.metadata.resourceVersion);
      return { client: name, member, freshness, pages, revision, objects, invokedMs, returnedMs: performance.now() };
    }
  }
}

function queryOf(freshness: Freshness, limit: number, next: string | undefined): string {
  const query = new URLSearchParams();
  if (limit > 0) query.set("limit", String(limit));
  if (next !== undefined) {
    query.set("continue", next);
    return `?${query}`;
  }
  if (freshness.kind === "any") query.set("resourceVersion", "0");
  if (freshness.kind === "notOlderThan" || freshness.kind === "exact") {
    query.set("resourceVersion", String(freshness.revision));
    query.set("resourceVersionMatch", freshness.kind === "exact" ? "Exact" : "NotOlderThan");
  }
  return `?${query}`;
}
