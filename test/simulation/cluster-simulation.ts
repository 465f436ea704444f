import { type SeedReport, Simulation } from "../../raft/testing/simulator/simulation.ts";
import type { Mutation } from "./mutation.ts";
import { ReplicaClients, type ReplicaCounts } from "./replica-clients.ts";
import { ReplicaMachine } from "./replica-machine.ts";
import { SimulatedRuntime } from "./simulated-runtime.ts";
import { Truth } from "./truth.ts";

/** One in so many seeds has disks that damage data. */
const seedsPerDamage = 4;
/** There is nothing to damage without checkpoints. */
const damaging = { damage: 300, compaction: 600 };

export interface ClusterReport extends SeedReport, ReplicaCounts {
  readonly revisions: number;
}

/** A cluster of replicas, their clients and their adversary under one seed. */
export class ClusterSimulation {
  readonly #truth = new Truth();
  readonly #simulation: Simulation;
  #clients: ReplicaClients | undefined;
  #runtime: SimulatedRuntime | undefined;

  constructor(seed: number, mutation?: Mutation) {
    const truth = this.#truth;
    const profile = seed % seedsPerDamage === 0 ? damaging : {};
    const isServed = seed % seedsPerDamage === 1;
    this.#simulation = new Simulation(seed, {
      profile,
      application: () => ({
        newMachine: () => new ReplicaMachine(truth, mutation),
        clients: (world) => {
          const runtime = new SimulatedRuntime(world.random, () => world.now);
          this.#runtime = runtime;
          return (this.#clients = new ReplicaClients({ world, truth, mutation, runtime, isServed }));
        },
      }),
    });
  }

  /** @throws Violation, or an assertion of a part, if a rule is broken */
  run(steps: number): ClusterReport {
    const [runtime, clients] = [this.#runtime, this.#clients];
    if (runtime === undefined || clients === undefined) throw new Error("the simulation has not begun");
    const report = runtime.run(() => this.#simulation.run(steps));
    const counts = clients.counts();
    return { ...report, ...counts, revisions: this.#truth.revision };
  }

  /** Returns the latest events, one line each. */
  lastEvents(): string[] {
    return this.#simulation.lastEvents();
  }
}
