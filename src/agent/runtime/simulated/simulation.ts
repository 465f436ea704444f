import type { Clock } from "../../../process/clock.ts";
import { Schedule } from "../../pods/schedule.ts";
import { PodAddresses, sharedPodRange } from "./pod-addresses.ts";
import { noRules, type SimulationRules } from "./rules.ts";
import { seededRandom } from "./seeded-random.ts";

export interface SimulationOptions {
  readonly clock: Clock;
  readonly seed: number;
  readonly rules?: SimulationRules | undefined;
}

/** Ranges of nodes for which addresses are kept. */
const rangesMax = 100_000;
/** Images whose digests are kept. */
const digestsMax = 10_000;

/** The things that the simulated nodes of a process share. */
export class Simulation implements Disposable {
  readonly clock: Clock;
  readonly seed: number;
  readonly rules: SimulationRules;
  /** In [0, 1); the same numbers for the same seed. */
  readonly random: () => number;
  readonly schedule: Schedule;
  /** The addresses of pods whose node has no range. */
  readonly sharedAddresses: readonly PodAddresses[] = [new PodAddresses(sharedPodRange)];
  readonly #addresses = new Map<string, PodAddresses>();
  readonly #digests = new Map<string, string>();

  constructor({ clock, seed, rules = noRules }: SimulationOptions) {
    this.clock = clock;
    this.seed = seed;
    this.rules = rules;
    this.random = seededRandom(seed);
    this.schedule = new Schedule(clock);
  }

  /** Returns the addresses of a range, which nodes may share. */
  addressesIn(cidr: string): PodAddresses {
    const known = this.#addresses.get(cidr);
    if (known !== undefined) return known;
    if (this.#addresses.size >= rangesMax) throw new Error("there are too many ranges of pod addresses");
    const addresses = new PodAddresses(cidr);
    this.#addresses.set(cidr, addresses);
    return addresses;
  }

  /** Returns the reference by digest of an image: the same one for the same name, and another one for another. */
  imageRef(image: string): string {
    const known = this.#digests.get(image);
    if (known !== undefined) return known;
    const digest = new Bun.CryptoHasher("sha256").update(image).digest("hex");
    const ref = `${repositoryOf(image)}@sha256:${digest}`;
    if (this.#digests.size >= digestsMax) this.#digests.clear();
    this.#digests.set(image, ref);
    return ref;
  }

  /** Returns a new id, such as those of containers. */
  newId(): string {
    const word = () =>
      Math.floor(this.random() * 2 ** 32)
        .toString(16)
        .padStart(8, "0");
    return Array.from({ length: 8 }, word).join("");
  }

  [Symbol.dispose](): void {
    this.schedule[Symbol.dispose]();
  }
}

/** Returns the image without its tag or digest. A port of the registry is not a tag. */
function repositoryOf(image: string): string {
  const [name = ""] = image.split("@");
  const colon = name.lastIndexOf(":");
  return colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
}
