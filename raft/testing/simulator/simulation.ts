import type { ConfOperation, ConfStep } from "../../core/conf-change.ts";
import type { MemberId } from "../../core/ids.ts";
import { noIndex, noMember, noTerm } from "../../core/ids.ts";
import type { Membership } from "../../core/membership.ts";
import { isVoter, membershipOf, noMembership } from "../../core/membership.ts";
import type { Message } from "../../core/message.ts";
import { Checker, isQuorum } from "./checker.ts";
import type { Checkpoint } from "./disk-image.ts";
import { DiskImage } from "./disk-image.ts";
import { EventQueue } from "./event-queue.ts";
import { Network } from "./network.ts";
import type { Profile } from "./profile.ts";
import { drawProfile, electionUnits } from "./profile.ts";
import { mix, RegisterMachine } from "./register-machine.ts";
import { SeededRandom } from "./seeded-random.ts";
import type { Process } from "./sim-member.ts";
import { SimMember } from "./sim-member.ts";
import { must } from "./violation.ts";
import { Workload } from "./workload.ts";
import type { Happening, SimEvent, World } from "./world.ts";
import { Crash, crashPoints } from "./world.ts";

/** No cluster of a seed has more members than this at once, counting those that were removed and still run. */
const membersMax = 9;
/** How long the end of a seed may take to come to rest. */
const calmUnitsMax = 60 * electionUnits;
const noContext = new Uint8Array();

export interface SeedReport {
  readonly seed: number;
  readonly events: number;
  /** The same for every run of the same seed with as many steps. */
  readonly trace: number;
  readonly decided: number;
  readonly termsLed: number;
  readonly reads: number;
  readonly crashes: number;
  readonly members: number;
  readonly snapshots: number;
  readonly membershipChanges: number;
}

export interface SimulationOptions {
  /** Disks acknowledge what they then lose in a crash: no protocol survives that, and the checker must notice. */
  readonly disksLie?: boolean;
}

/** A whole cluster, its clients and its adversary, under one seed. */
export class Simulation implements World {
  readonly seed: number;
  readonly random: SeededRandom;
  readonly profile: Profile;
  readonly disksLie: boolean;
  now = 0;
  isCalm = false;
  readonly #queue = new EventQueue<SimEvent>();
  readonly #network: Network;
  readonly #checker = new Checker();
  readonly #workload: Workload;
  readonly #members = new Map<MemberId, SimMember>();
  #events = 0;
  #trace = 0x811c9dc5 | 0;
  #crashes = 0;

  constructor(seed: number, { disksLie = false }: SimulationOptions = {}) {
    this.seed = seed;
    this.disksLie = disksLie;
    this.random = new SeededRandom(seed);
    this.profile = drawProfile(this.random);
    this.#network = new Network(this.random, this.profile);
    this.#workload = new Workload(this, this.profile.clients);
    this.#found();
  }

  /** @throws Violation, or the core's own assertion, when a rule is broken. */
  run(steps: number): SeedReport {
    for (let client = 0; client < this.profile.clients; client++) this.schedule(client, { kind: "client", client });
    this.schedule(this.profile.actionUnitsMax, { kind: "action" });
    while (this.#events < steps) this.#next();
    this.#comeToRest();
    return this.#report();
  }

  schedule(delayUnits: number, what: Happening): void {
    this.#queue.push({ time: this.now + delayUnits, order: 0, what });
  }

  send(message: Message, snapshot: Checkpoint | undefined): void {
    const fate = this.#network.fateOf(message, snapshot, this.now);
    for (const delay of fate) this.schedule(delay, { kind: "deliver", message, snapshot });
    const sender = this.#members.get(message.from)?.process;
    if (sender === undefined) return;
    const { from: member, to } = message;
    const { incarnation } = sender;
    const [first] = fate;
    if (snapshot !== undefined) {
      const delay = first === undefined ? electionUnits : first + 1;
      this.schedule(delay, { kind: "streamed", member, incarnation, to, arrived: first !== undefined });
    }
  }

  #found(): void {
    const { voters, learners } = this.profile;
    const ids = Array.from({ length: voters + learners }, (_, at) => (at + 1) as MemberId);
    const membership = membershipOf(ids.slice(0, voters), ids.slice(voters));
    for (const id of ids) this.#add(id, membership).start();
  }

  #add(id: MemberId, membership: Membership): SimMember {
    const meta = { index: noIndex, term: noTerm, membership };
    const state = new RegisterMachine(noIndex, 0, new Int32Array(this.profile.clients));
    const disk = new DiskImage({ term: noTerm, vote: noMember, commit: noIndex }, { meta, state });
    const member = new SimMember(id, disk, this, this.#checker, this.#workload);
    this.#members.set(id, member);
    return member;
  }

  #next(): void {
    const event = this.#queue.pop();
    must(event !== undefined, () => "nothing happens any more");
    this.now = event.time;
    this.#events++;
    this.#trace = mix(this.#trace, event.time);
    try {
      this.#happen(event.what);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#crash(error.member);
    }
  }

  #happen(what: Happening): void {
    switch (what.kind) {
      case "tick":
        return this.#withProcess(what, (member, process) => member.tick(process));
      case "written":
        return this.#withProcess(what, (member, process) => member.written(process));
      case "applied":
        return this.#withProcess(what, (member, process) => member.applyNext(process));
      case "streamed":
        return this.#withProcess(what, (member, process) => {
          process.node.reportSnapshot(what.to, what.arrived);
          member.settle(process);
        });
      case "deliver":
        return this.#deliver(what);
      case "restart":
        return this.#restart(what.member);
      case "client":
        return this.#clientTurn(what.client);
      case "action":
        return this.#act();
    }
  }

  #withProcess(
    what: Extract<Happening, { readonly incarnation: number }>,
    run: (member: SimMember, process: Process) => void,
  ): void {
    const { member: id, incarnation } = what;
    const member = this.#members.get(id);
    if (member?.process?.incarnation !== incarnation) return;
    if (member.pausedUntil > this.now) return this.schedule(member.pausedUntil - this.now, what);
    this.#trace = mix(this.#trace, id);
    run(member, member.process);
  }

  #deliver(what: Extract<Happening, { readonly kind: "deliver" }>): void {
    const { message, snapshot } = what;
    const member = this.#members.get(message.to);
    if (member?.process === undefined || this.#network.isCut(message.from, message.to)) return;
    if (member.pausedUntil > this.now) return this.schedule(member.pausedUntil - this.now, what);
    this.#trace = mix(mix(this.#trace, message.from * 16 + message.to), message.term);
    member.receive(member.process, message, snapshot);
  }

  #crash(id: MemberId): void {
    const member = this.#members.get(id);
    if (member?.process === undefined) return;
    member.crash();
    this.#crashes++;
    if (!this.isCalm) this.schedule(this.random.between(1, 5 * electionUnits), { kind: "restart", member: id });
  }

  #restart(id: MemberId): void {
    const member = this.#members.get(id);
    if (member !== undefined && member.process === undefined && !this.isCalm) member.start();
  }

  #clientTurn(client: number): void {
    const all = this.#running();
    const running = this.isCalm ? all.filter(({ id }) => this.#inForce(id)) : all;
    this.schedule(this.random.between(1, this.profile.clientUnitsMax), { kind: "client", client });
    if (running.length > 0) this.#workload.turn(client, running, !this.isCalm);
  }

  #running(): SimMember[] {
    return [...this.#members.values()].filter(({ process, pausedUntil }) => {
      return process !== undefined && pausedUntil <= this.now;
    });
  }

  /** All who think so. */
  #leaders(): SimMember[] {
    return this.#running().filter(({ process }) => process?.node.softState.role === "leader");
  }

  #leading(): SimMember | undefined {
    const leaders = this.#leaders();
    return leaders.length === 0 ? undefined : this.random.pick(leaders);
  }

  /** The adversary's turn. */
  #act(): void {
    if (this.isCalm) return;
    const { random, profile } = this;
    this.schedule(random.between(1, profile.actionUnitsMax), { kind: "action" });
    const running = this.#running();
    if (running.length === 0) return;
    const ids = running.map(({ id }) => id);
    for (const leader of this.#leaders()) this.#workload.read(leader);
    if (random.chance(profile.partition)) this.#network.partition(ids, this.#leading()?.id);
    if (random.chance(profile.healing)) this.#network.heal();
    if (random.chance(profile.membership)) this.#changeMembership();
    if (random.chance(profile.transfer)) this.#transfer(ids);
    if (random.chance(20)) this.#withNode(random.pick(running), (node) => node.campaign());
    if (random.chance(20)) this.#withNode(random.pick(running), (node) => node.reportUnreachable(random.pick(ids)));
    if (random.chance(5)) this.#withNode(random.pick(running), (node) => node.stepDown());
    if (random.chance(profile.crash)) this.#arm(this.#victim(running));
    if (random.chance(profile.pause))
      this.#victim(running).pausedUntil = this.now + random.between(1, 4 * electionUnits);
    if (random.chance(profile.compaction)) this.#checkpoint(random.pick(running));
  }

  #arm(member: SimMember): void {
    if (this.random.chance(400)) this.#crash(member.id);
    else member.armed = this.random.pick(crashPoints);
  }

  #victim(running: readonly SimMember[]): SimMember {
    const leader = this.random.chance(400) ? this.#leading() : undefined;
    return leader ?? this.random.pick(running);
  }

  #checkpoint(member: SimMember): void {
    if (member.process !== undefined) member.checkpoint(member.process);
  }

  #transfer(ids: readonly MemberId[]): void {
    const leader = this.#leading();
    if (leader !== undefined) this.#withNode(leader, (node) => node.transferLeadership(this.random.pick(ids)));
  }

  #withNode(member: SimMember, act: (node: Process["node"]) => void): void {
    if (member.process === undefined) return;
    act(member.process.node);
    member.settle(member.process);
  }

  #changeMembership(): void {
    const leader = this.#leading();
    if (leader?.process === undefined) return;
    const { voters, learners } = leader.process.node.log.memberships.at(-1)?.membership ?? noMembership;
    const steps: ConfStep[] = [];
    for (let step = this.random.between(1, 3); step > 0; step--) {
      const operation = this.random.pick<ConfOperation>(["addLearner", "promote", "promote", "demote", "remove"]);
      const member = this.#pickFor(operation, voters, learners);
      if (member !== undefined) steps.push({ operation, member });
    }
    this.#withNode(leader, (node) => node.proposeConfChange({ steps, context: noContext }));
  }

  #pickFor(operation: ConfOperation, voters: readonly MemberId[], learners: readonly MemberId[]): MemberId | undefined {
    if (operation === "promote") return learners.length === 0 ? undefined : this.random.pick(learners);
    if (operation === "demote") return this.random.pick(voters);
    if (operation === "remove") return this.random.pick([...voters, ...learners]);
    if (this.#members.size >= membersMax || voters.length + learners.length >= 7) return undefined;
    const id = (this.#members.size + 1) as MemberId;
    this.#add(id, noMembership).start();
    return id;
  }

  /** Faults stop for a random set of members that has a quorum; what it can reach, it must. */
  #comeToRest(): void {
    this.isCalm = true;
    this.#network.heal();
    this.#network.calm = true;
    for (const member of this.#members.values()) {
      member.armed = undefined;
      member.pausedUntil = 0;
    }
    const core = this.#drawCore();
    for (const member of this.#members.values()) {
      if (!core.has(member.id)) member.crash();
      else if (member.process === undefined) member.start();
    }
    this.#workload.beginCalm();
    const deadline = this.now + calmUnitsMax;
    let nextRead = this.now;
    while (!this.#isAtRest()) {
      must(this.now < deadline, () => this.#unrest(core));
      this.#next();
      if (this.now < nextRead) continue;
      nextRead = this.now + electionUnits;
      this.#workload.forgetOldReads();
      for (const member of this.#running()) if (this.#inForce(member.id)) this.#workload.read(member);
    }
    this.#checkEnd();
  }

  /** All but as many as every membership that may be in force can spare, drawn one by one. */
  #drawCore(): Set<MemberId> {
    const core = new Set(this.#members.keys());
    const memberships = [...this.#members.values()].flatMap((member) => this.#memberships(member));
    const decides = (membership: Membership) => isQuorum(membership, (id) => core.has(id));
    for (const id of this.random.shuffled([...core])) {
      if (this.random.chance(500)) continue;
      core.delete(id);
      if (!memberships.every((membership) => membership.voters.length === 0 || decides(membership))) core.add(id);
    }
    return core;
  }

  #memberships({ disk, process }: SimMember): Membership[] {
    const inMemory = process?.node.log.memberships.map(({ membership }) => membership) ?? [];
    return [...inMemory, ...disk.memberships()];
  }

  /** Whether the only leader there is counts the member in. */
  #inForce(id: MemberId): boolean {
    const membership = this.#onlyLeader()?.process?.node.log.memberships.at(-1)?.membership;
    return membership !== undefined && (isVoter(membership, id) || membership.learners.includes(id));
  }

  #onlyLeader(): SimMember | undefined {
    const leaders = this.#leaders();
    return leaders.length === 1 ? leaders[0] : undefined;
  }

  #isAtRest(): boolean {
    const leader = this.#onlyLeader()?.process?.node;
    if (leader === undefined || leader.log.commit !== leader.log.lastIndex || !this.#workload.isIdle) return false;
    return this.#running().every(({ id, process }) => {
      if (!this.#inForce(id)) return true;
      return process?.machine.index === leader.log.commit && this.#workload.servedBy.has(id);
    });
  }

  #checkEnd(): void {
    const machine = this.#onlyLeader()?.process?.machine;
    this.#workload.acknowledged.forEach((sequence, client) => {
      const value = machine?.registers[client] ?? 0;
      must(value >= sequence, () => `client ${client} was told of ${sequence}, and ${value} is left`);
    });
  }

  #unrest(core: ReadonlySet<MemberId>): string {
    const lines = this.#running().map(({ id, process, disk }) => {
      const { role, term, leader, commit, lastIndex, membership, progress } = process?.node.status() ?? {};
      const peers = progress?.map((peer) => `${peer.member}:${peer.state}@${peer.match}`).join(" ");
      return `  ${id}: ${role} term ${term} of ${leader}, ${commit}/${lastIndex}, disk ${disk.lastIndex}, ${JSON.stringify(membership)} ${peers}`;
    });
    return `no rest with members ${[...core].join()}: clients ${this.#workload.isIdle ? "idle" : "waiting"}, reads served by ${[...this.#workload.servedBy].join()}\n${lines.join("\n")}`;
  }

  #report(): SeedReport {
    return {
      seed: this.seed,
      events: this.#events,
      trace: this.#trace >>> 0,
      decided: this.#checker.decidedCount,
      termsLed: this.#checker.termsLed,
      reads: this.#workload.readsServed,
      crashes: this.#crashes,
      members: this.#members.size,
      snapshots: this.#checker.snapshotsInstalled,
      membershipChanges: this.#checker.membershipChanges,
    };
  }
}
