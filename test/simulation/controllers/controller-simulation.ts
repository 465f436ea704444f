import { electionUnits } from "../../../raft/testing/simulator/profile.ts";
import { type SeedReport, Simulation } from "../../../raft/testing/simulator/simulation.ts";
import { ReplicaMachine } from "../replica-machine.ts";
import { SimulatedRuntime } from "../simulated-runtime.ts";
import { ControlRules } from "./control-rules.ts";
import { ControllerClients } from "./controller-clients.ts";

/** Time until the last pod on a missing node is gone, and a leader that was lost before has been replaced. */
const restUnitsMax = 240 * electionUnits;

export interface ControllerReport extends SeedReport {
  readonly leads: number;
  readonly deletions: number;
  readonly claims: number;
  readonly nodeParts: number;
  readonly evictions: number;
}

/**
 * A cluster whose replicas run the controllers, with users, the agents of nodes and an adversary, under one seed.
 * The membership stays: a removed replica would still count as a server, because nobody stops its process here.
 */
export class ControllerSimulation {
  readonly #rules = new ControlRules();
  readonly #simulation: Simulation;
  #clients: ControllerClients | undefined;
  #runtime: SimulatedRuntime | undefined;

  constructor(seed: number) {
    const rules = this.#rules;
    this.#simulation = new Simulation(seed, {
      profile: { membership: 0 },
      application: () => ({
        restUnitsMax,
        newMachine: () => new ReplicaMachine(rules),
        clients: (world) => {
          const runtime = new SimulatedRuntime(world.random, () => world.now);
          this.#runtime = runtime;
          return (this.#clients = new ControllerClients({ world, runtime }));
        },
      }),
    });
  }

  /** @throws Violation, or an assertion of a part, if a rule is broken */
  run(steps: number): ControllerReport {
    const [runtime, clients] = [this.#runtime, this.#clients];
    if (runtime === undefined || clients === undefined) throw new Error("the simulation has not begun");
    const report = runtime.run(() => this.#simulation.run(steps));
    const { deletions, claims, nodeParts, evictions } = this.#rules;
    return { ...report, leads: clients.leads, deletions, claims, nodeParts, evictions };
  }

  /** Returns the latest events, one line each. */
  lastEvents(): string[] {
    return this.#simulation.lastEvents();
  }
}
