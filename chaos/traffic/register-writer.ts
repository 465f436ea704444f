import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Request } from "../history/operation.ts";
import type { CachedRead } from "../history/reads.ts";
import { colors, observe, path } from "./config-map.ts";
import type { RecordingClient } from "./recording-client.ts";
import type { Roaming, Worker } from "./worker.ts";

/** Maximum pause between two requests. */
const pauseMsMax = 24;
const afterFailureMs = 60;

/** Reads and writes a few objects that others read and write too. Every write has a unique value. */
export class RegisterWriter implements Worker {
  readonly #client: RecordingClient;
  readonly #random: SeededRandom;
  readonly #roaming: Roaming;
  readonly #keys: readonly string[];
  readonly #onCachedRead: (read: CachedRead) => void;
  readonly #seen = new Map<string, number>();
  #newest = 0;
  #writes = 0;

  constructor(
    client: RecordingClient,
    random: SeededRandom,
    roaming: Roaming,
    keys: readonly string[],
    onCachedRead: (read: CachedRead) => void,
  ) {
    this.#client = client;
    this.#random = random;
    this.#roaming = roaming;
    this.#keys = keys;
    this.#onCachedRead = onCachedRead;
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const key = this.#random.pick(this.#keys);
      const isLinearizable = this.#random.chance(850);
      const succeeded = isLinearizable ? await this.#perform(key) : await this.#readCached(key);
      if (!succeeded || this.#random.chance(50)) this.#move();
      await Bun.sleep(succeeded ? this.#random.below(pauseMsMax) : afterFailureMs);
    }
  }

  async #perform(key: string): Promise<boolean> {
    const request = this.#next(key);
    const { outcome, object } = await this.#client.perform(key, request);
    if (object !== undefined) {
      this.#seen.set(key, object.revision);
      this.#newest = Math.max(this.#newest, object.revision);
    }
    return outcome.kind !== "refused" && outcome.kind !== "unknown";
  }

  #next(key: string): Request {
    const seen = this.#seen.get(key);
    const dice = this.#random.below(100);
    if (dice < 30) return { verb: "get" };
    if (dice < 35) return { verb: "delete", expected: this.#random.chance(700) ? seen : undefined };
    const value = `${this.#client.name}-${++this.#writes}`;
    const color = this.#random.pick(colors);
    if (dice < 50 || seen === undefined) return { verb: "create", value, color };
    if (dice < 80) return { verb: "update", value, color, expected: seen };
    return { verb: "patch", value, color };
  }

  /** Reads from the member's memory: any state, or one that is not older than any that this client has seen. */
  async #readCached(key: string): Promise<boolean> {
    const notOlderThan = this.#random.chance(500) ? this.#newest : 0;
    const { member, name } = this.#client;
    const reply = await this.#client.ask("GET", `${path}/${key}?resourceVersion=${notOlderThan}`);
    if (reply.kind !== "answer") return false;
    const { code, body } = reply.answer;
    if (code !== 200 && code !== 404) return false;
    const object = code === 200 ? observe(JSON.parse(body)) : undefined;
    this.#onCachedRead({ client: name, member, key, notOlderThan, object });
    return true;
  }

  #move(): void {
    const { pinnedTo, members } = this.#roaming;
    if (pinnedTo === undefined) this.#client.moveTo(1 + this.#random.below(members));
  }
}
