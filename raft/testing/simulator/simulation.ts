import type { MemberId } from "../../core/ids.ts";
import { membershipOf } from "../../core/membership.ts";
import type { Message } from "../../core/message.ts";
import { Adversary } from "./adversary.ts";
import type { Application, Clients } from "./application.ts";
import { Checker } from "./checker.ts";
import { Chronicle } from "./chronicle.ts";
import { Cluster } from "./cluster.ts";
import type { Checkpoint } from "./disk-image.ts";
import { EventQueue } from "./event-queue.ts";
import { LastPhase } from "./last-phase.ts";
import { Network } from "./network.ts";
import type { Profile } from "./profile.ts";
import { drawProfile, electionUnits } from "./profile.ts";
import { mix } from "./register-machine.ts";
import { SeededRandom } from "./seeded-random.ts";
import type { Process, SimMember } from "./sim-member.ts";
import { must } from "./violation.ts";
import { registerApplication } from "./workload.ts";
import type { Happening, SimEvent, World } from "./world.ts";
import { Crash } from "./world.ts";

export interface SeedReport {
  readonly seed: number;
  readonly events: number;
  /** Hash of the course, equal for every run of the same seed with as many steps. */
  readonly trace: number;
  readonly decided: number;
  readonly termsLed: number;
  readonly reads: number;
  readonly crashes: number;
  readonly members: number;
  readonly snapshots: number;
  readonly membershipChanges: number;
  readonly damages: number;
}

export interface SimulationOptions {
  /** Whether disks acknowledge data that they lose in a crash. No protocol survives that, so the checker must notice. */
  readonly disksLie?: boolean;
  /** Severities to use in place of those that the seed draws. */
  readonly profile?: Partial<Profile>;
  /** Replicated application; registers by default. */
  readonly application?: (profile: Profile) => Application;
}

/** A whole cluster with its clients and its adversary under one seed. All events happen in order, one at a time. */
export class Simulation implements World {
  readonly seed: number;
  readonly random: SeededRandom;
  readonly profile: Profile;
  readonly disksLie: boolean;
  now = 0;
  isCalm = false;
  readonly #queue = new EventQueue<SimEvent>();
  readonly #chronicle = new Chronicle();
  readonly #checker = new Checker();
  readonly #network: Network;
  readonly #clients: Clients;
  readonly #cluster: Cluster;
  readonly #adversary: Adversary;
  readonly #repeatsProposals: boolean;
  readonly #restUnitsMax: number | undefined;
  #events = 0;
  #trace = 0x811c9dc5 | 0;

  constructor(seed: number, options: SimulationOptions = {}) {
    const { disksLie = false, application = registerApplication } = options;
    this.seed = seed;
    this.disksLie = disksLie;
    this.random = new SeededRandom(seed);
    this.profile = { ...drawProfile(this.random, seed), ...options.profile };
    this.#network = new Network(this.random, this.profile);
    const { clients, newMachine, repeatsProposals = false, restUnitsMax } = application(this.profile);
    this.#restUnitsMax = restUnitsMax;
    this.#repeatsProposals = repeatsProposals;
    this.#clients = clients(this);
    this.#cluster = new Cluster(this, this.#checker, this.#clients, newMachine);
    this.#adversary = new Adversary(this, this.#cluster, this.#network, this.#clients);
  }

  /** Runs the seed. @throws Violation, or the core's own assertion, when a rule is broken */
  run(steps: number): SeedReport {
    this.#found();
    for (let client = 0; client < this.profile.clients; client++) this.schedule(client, { kind: "client", client });
    this.schedule(this.profile.actionUnitsMax, { kind: "action" });
    while (this.#events < steps) this.#next();
    this.isCalm = true;
    const last = new LastPhase(this, this.#cluster, this.#network, this.#clients, this.#restUnitsMax);
    last.run(() => this.#next());
    return this.#report();
  }

  /** Returns the latest events, one line each. */
  lastEvents(): string[] {
    return this.#chronicle.tell();
  }

  schedule(delayUnits: number, what: Happening): void {
    this.#queue.push({ time: this.now + delayUnits, order: 0, what });
  }

  send(message: Message, snapshot: Checkpoint | undefined): void {
    // The receiver of a damaged snapshot refuses it.
    const isLost = snapshot?.state.isDamaged === true;
    const fate = isLost ? [] : this.#network.fateOf(message, snapshot, this.now);
    const copies = message.type === "propose" && !this.#repeatsProposals ? fate.slice(0, 1) : fate;
    for (const delay of copies) this.schedule(delay, { kind: "deliver", message, snapshot, isCalm: this.isCalm });
    if (snapshot !== undefined) this.#reportStream(message, fate[0]);
  }

  /** Reports the fate of a snapshot to its sender. */
  #reportStream({ from: member, to }: Message, arrival: number | undefined): void {
    const incarnation = this.#cluster.member(member)?.process?.incarnation;
    if (incarnation === undefined) return;
    const delay = arrival === undefined ? electionUnits : arrival + 1;
    this.schedule(delay, { kind: "streamed", member, incarnation, to, arrived: arrival !== undefined });
  }

  #found(): void {
    const { voters, learners } = this.profile;
    const ids = Array.from({ length: voters + learners }, (_, at) => (at + 1) as MemberId);
    const membership = membershipOf(ids.slice(0, voters), ids.slice(voters));
    for (const id of ids) this.#cluster.add(id, membership);
  }

  #next(): void {
    const event = this.#queue.pop();
    must(event !== undefined, () => "nothing happens any more");
    this.now = event.time;
    this.#events++;
    this.#trace = mix(this.#trace, event.time);
    this.#chronicle.note(event);
    try {
      this.#happen(event.what);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#cluster.crash(error.member);
    }
    this.#clients.settled?.();
  }

  #happen(what: Happening): void {
    switch (what.kind) {
      case "tick":
        return this.#withProcess(what, (member, process) => member.tick(process));
      case "written":
        return this.#withProcess(what, (member, process) => member.written(process));
      case "applied":
        return this.#withProcess(what, (member, process) => member.applyNext(process));
      case "timer":
        return this.#withProcess(what, () => what.run());
      case "streamed":
        return this.#withProcess(what, (member) => {
          this.#cluster.ask(member, (node) => node.reportSnapshot(what.to, what.arrived));
        });
      case "deliver":
        return this.#deliver(what);
      case "restart":
        return this.#restart(what.member);
      case "client":
        return this.#clientTurn(what.client);
      case "action":
        if (!this.isCalm) this.#adversary.turn();
    }
  }

  /**
   * Runs an event of a process. It is dropped if the process has crashed since, and delayed while the process is
   * paused.
   */
  #withProcess(
    what: Extract<Happening, { readonly incarnation: number }>,
    run: (member: SimMember, process: Process) => void,
  ): void {
    const { member: id, incarnation } = what;
    const member = this.#cluster.member(id);
    if (member?.process?.incarnation !== incarnation) return;
    if (member.pausedUntil > this.now) return this.schedule(member.pausedUntil - this.now, what);
    this.#trace = mix(this.#trace, id);
    run(member, member.process);
  }

  #deliver(what: Extract<Happening, { readonly kind: "deliver" }>): void {
    const { message, snapshot } = what;
    const member = this.#cluster.member(message.to);
    if (member?.process === undefined || this.#network.isCut(message.from, message.to)) return;
    // An older message could bring a membership into force that no member holds any more. The last phase only considers
    // memberships that some member holds.
    if (this.isCalm && !what.isCalm) return;
    if (member.pausedUntil > this.now) return this.schedule(member.pausedUntil - this.now, what);
    this.#trace = mix(mix(this.#trace, message.from * 16 + message.to), message.term);
    member.receive(member.process, message, snapshot);
  }

  #restart(id: MemberId): void {
    const member = this.#cluster.member(id);
    if (member !== undefined && member.process === undefined && !this.isCalm) member.start();
  }

  #clientTurn(client: number): void {
    const { running } = this.#cluster;
    const asked = this.isCalm ? running.filter(({ id }) => this.#cluster.counts(id)) : running;
    this.schedule(this.random.between(1, this.profile.clientUnitsMax), { kind: "client", client });
    if (asked.length > 0) this.#clients.turn(client, asked, !this.isCalm);
  }

  #report(): SeedReport {
    return {
      seed: this.seed,
      events: this.#events,
      trace: this.#trace >>> 0,
      decided: this.#checker.decidedCount,
      termsLed: this.#checker.termsLed,
      reads: this.#clients.readsServed,
      crashes: this.#cluster.crashes,
      members: this.#cluster.size,
      snapshots: this.#checker.snapshotsInstalled,
      membershipChanges: this.#checker.membershipChanges,
      damages: this.#cluster.damages,
    };
  }
}
