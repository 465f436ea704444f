import type { Registry } from "../../src/registry/registry.ts";
import { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import type { CacherLimits } from "../../src/storage/cacher/limits.ts";
import type { OpenMirror } from "../../src/storage/replicated/mirror/open-mirror.ts";
import type { ReplicatedStore } from "../../src/storage/replicated/replicated-store.ts";
import { configMapRegistry } from "./config-map-registry.ts";
import type { ServingClock } from "./serving-clock.ts";
import { type HostReplica, SimulatedServer } from "./simulated-server.ts";

export interface ServingProcessOptions {
  readonly replica: HostReplica;
  readonly clock: ServingClock;
  readonly limits: Partial<CacherLimits>;
  readonly random: () => number;
  readonly newUid: () => string;
}

/** A further process of a replica, which answers from a mirror of its state. */
export class ServingProcess extends SimulatedServer {
  readonly store: ReplicatedStore;
  readonly cachers: CacherSet;
  readonly configMaps: Registry;
  readonly clock: ServingClock;
  readonly replica: HostReplica;
  readonly #mirror: OpenMirror;

  constructor(mirror: OpenMirror, { replica, clock, limits, random, newUid }: ServingProcessOptions) {
    super();
    this.#mirror = mirror;
    this.replica = replica;
    this.clock = clock;
    this.store = mirror.store;
    this.cachers = new CacherSet({ store: this.store, clock, limits, random });
    this.configMaps = configMapRegistry({ store: this.store, cachers: this.cachers, clock, newUid });
  }

  get index(): number {
    return this.#mirror.index;
  }
}
