import type { MemberId } from "../../core/ids.ts";
import { isJoint } from "../../core/membership.ts";
import type { Clients } from "./application.ts";
import type { Cluster } from "./cluster.ts";
import type { Network } from "./network.ts";
import { electionUnits } from "./profile.ts";
import type { SimMember } from "./sim-member.ts";
import { must } from "./violation.ts";
import type { World } from "./world.ts";

const restUnitsMaxDefault = 60 * electionUnits;

/**
 * Ends a seed. Faults stop for a random set of members that has a quorum; the others stay down. Then the cluster must
 * have one leader, answer every write, bring every member of the set up to the leader, and serve a read on each.
 */
export class LastPhase {
  readonly #world: World;
  readonly #cluster: Cluster;
  readonly #network: Network;
  readonly #clients: Clients;
  readonly #restUnitsMax: number;

  constructor(world: World, cluster: Cluster, network: Network, clients: Clients, restUnitsMax = restUnitsMaxDefault) {
    this.#world = world;
    this.#cluster = cluster;
    this.#network = network;
    this.#clients = clients;
    this.#restUnitsMax = restUnitsMax;
  }

  /** Runs the phase. @throws Violation when the cluster does not come to rest or has lost an acknowledged write */
  run(next: () => void): void {
    const core = this.#begin();
    // A late message can bring back a membership that needs a damaged member. Such a cluster has lost its quorum.
    if (!this.#cluster.suffice((member) => core.has(member))) return;
    const deadline = this.#world.now + this.#restUnitsMax;
    let nextRead = this.#world.now;
    while (!this.#isAtRest()) {
      must(this.#world.now < deadline, () => this.#unrest(core));
      next();
      if (this.#world.now < nextRead) continue;
      nextRead = this.#world.now + electionUnits;
      this.#readEverywhere();
    }
    this.#clients.checkEnd(this.#cluster.onlyLeader?.process?.machine);
  }

  #begin(): Set<MemberId> {
    this.#network.heal();
    this.#network.calm = true;
    for (const member of this.#cluster.all) {
      member.armed = undefined;
      member.pausedUntil = 0;
    }
    const core = this.#drawCore();
    for (const member of this.#cluster.all) {
      if (!core.has(member.id)) member.crash();
      else if (member.process === undefined) member.start();
    }
    this.#clients.beginCalm();
    return core;
  }

  /**
   * Draws members one by one and removes as many as every membership that may be in force can spare. Members with damaged
   * data have to be replaced, so they stay down.
   */
  #drawCore(): Set<MemberId> {
    const { random } = this.#world;
    const core = new Set(this.#cluster.all.filter(({ disk }) => !disk.isDamaged).map(({ id }) => id));
    for (const id of random.shuffled([...core])) {
      if (random.chance(500)) continue;
      core.delete(id);
      if (!this.#cluster.suffice((member) => core.has(member))) core.add(id);
    }
    return core;
  }

  #readEverywhere(): void {
    this.#clients.forgetOldReads();
    for (const member of this.#cluster.running) if (this.#cluster.counts(member.id)) this.#clients.read(member);
  }

  #isAtRest(): boolean {
    const leader = this.#cluster.onlyLeader?.process?.node;
    if (leader === undefined || leader.log.commit !== leader.log.lastIndex || !this.#clients.isIdle) return false;
    if (isJoint(this.#cluster.membership)) return false;
    return this.#cluster.running.every(({ id, process }) => {
      if (!this.#cluster.counts(id)) return true;
      return process?.machine.index === leader.log.commit && this.#clients.servedBy.has(id);
    });
  }

  #unrest(core: ReadonlySet<MemberId>): string {
    const clients = this.#clients.isIdle ? "idle" : `waiting for ${this.#clients.waitsFor ?? "answers"}`;
    const head = `no rest with members ${[...core].join()}: clients ${clients}, reads served by ${[...this.#clients.servedBy].join()}`;
    return [head, ...this.#cluster.running.map(describeMember)].join("\n");
  }
}

function describeMember({ id, process, disk }: SimMember): string {
  const { role, term, leader, commit, lastIndex, membership, progress } = process?.node.status() ?? {};
  const peers = progress?.map(({ member, state, match }) => `${member}:${state}@${match}`).join(" ");
  const where = `${commit}/${lastIndex}, disk ${disk.lastIndex}`;
  return `  ${id}: ${role} term ${term} of ${leader}, ${where}, ${JSON.stringify(membership)} ${peers}`;
}
