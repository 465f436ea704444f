import { type SeedReport, Simulation } from "../../raft/testing/simulator/simulation.ts";
import type { Mutation } from "./mutation.ts";
import { ReplicaClients, type ReplicaCounts } from "./replica-clients.ts";
import { ReplicaMachine } from "./replica-machine.ts";
import { Truth } from "./truth.ts";

export interface ClusterReport extends SeedReport, ReplicaCounts {
  readonly revisions: number;
}

/** A cluster of replicas, their clients and their adversary under one seed. */
export class ClusterSimulation {
  readonly #truth = new Truth();
  readonly #simulation: Simulation;
  #clients: ReplicaClients | undefined;

  constructor(seed: number, mutation?: Mutation) {
    const truth = this.#truth;
    this.#simulation = new Simulation(seed, {
      application: () => ({
        newMachine: () => new ReplicaMachine(truth, mutation),
        clients: (world) => (this.#clients = new ReplicaClients({ world, truth, mutation })),
      }),
    });
  }

  /** @throws Violation, or an assertion of a part, if a rule is broken */
  run(steps: number): ClusterReport {
    const report = this.#simulation.run(steps);
    const counts = (this.#clients as ReplicaClients).counts();
    return { ...report, ...counts, revisions: this.#truth.revision };
  }

  /** Returns the latest events, one line each. */
  lastEvents(): string[] {
    return this.#simulation.lastEvents();
  }
}
