import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Outcome } from "../history/operation.ts";
import { colors } from "./config-map.ts";
import type { RecordingClient } from "./recording-client.ts";
import type { Roaming, Worker } from "./worker.ts";

const pauseMsMax = 60;
const afterFailureMs = 60;

/** Appends to shared sets by compare-and-set of the whole set. An append must neither be lost nor happen twice. */
export class SetAppender implements Worker {
  readonly #client: RecordingClient;
  readonly #random: SeededRandom;
  readonly #roaming: Roaming;
  readonly #keys: readonly string[];
  #appends = 0;

  constructor(client: RecordingClient, random: SeededRandom, roaming: Roaming, keys: readonly string[]) {
    this.#client = client;
    this.#random = random;
    this.#roaming = roaming;
    this.#keys = keys;
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const { kind } = await this.#append(this.#random.pick(this.#keys));
      const failed = kind === "refused" || kind === "unknown";
      const { pinnedTo, members } = this.#roaming;
      if (pinnedTo === undefined && (failed || this.#random.chance(50))) {
        this.#client.moveTo(1 + this.#random.below(members));
      }
      await Bun.sleep(failed ? afterFailureMs : this.#random.below(pauseMsMax));
    }
  }

  async #append(key: string): Promise<Outcome> {
    const { outcome, object } = await this.#client.perform(key, { verb: "get" });
    if (outcome.kind !== "ok" && outcome.kind !== "absent") return outcome;
    const value = `${this.#client.name}-${++this.#appends}`;
    const color = this.#random.pick(colors);
    if (object === undefined) {
      return (await this.#client.perform(key, { verb: "create", value, color }, [value])).outcome;
    }
    const request = { verb: "update", value, color, expected: object.revision } as const;
    return (await this.#client.perform(key, request, [...object.elements, value])).outcome;
  }
}
