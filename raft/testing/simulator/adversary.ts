import type { ConfOperation, ConfStep } from "../../core/conf-change.ts";
import { type MemberId, noIndex } from "../../core/ids.ts";
import type { Membership } from "../../core/membership.ts";
import { noMembership } from "../../core/membership.ts";
import type { Clients } from "./application.ts";
import type { Cluster } from "./cluster.ts";
import type { Network } from "./network.ts";
import { electionUnits } from "./profile.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimMember } from "./sim-member.ts";
import type { World } from "./world.ts";
import { crashPoints } from "./world.ts";

/** Maximum number of members of a seed's cluster at once, including removed ones that still run. */
const everMembersMax = 9;
const membersMax = 7;
const pauseElectionsMax = 4;
const noContext = new Uint8Array();

/** Breaks links and processes, and makes requests that an operator may make at a bad moment. */
export class Adversary {
  readonly #world: World;
  readonly #cluster: Cluster;
  readonly #network: Network;
  readonly #clients: Clients;

  constructor(world: World, cluster: Cluster, network: Network, clients: Clients) {
    this.#world = world;
    this.#cluster = cluster;
    this.#network = network;
    this.#clients = clients;
  }

  turn(): void {
    const { random, profile } = this.#world;
    this.#world.schedule(random.between(1, profile.actionUnitsMax), { kind: "action" });
    const { running } = this.#cluster;
    if (running.length === 0) return;
    const ids = running.map(({ id }) => id);
    for (const leader of this.#cluster.leaders) this.#clients.read(leader);
    if (random.chance(profile.partition)) this.#partition(ids);
    if (random.chance(profile.healing)) this.#network.heal();
    if (random.chance(profile.membership)) this.#changeMembership();
    if (random.chance(profile.transfer)) this.#transfer(ids);
    if (random.chance(20)) this.#cluster.ask(random.pick(running), (node) => node.campaign());
    if (random.chance(20)) this.#cluster.ask(random.pick(running), (node) => node.reportUnreachable(random.pick(ids)));
    if (random.chance(60)) this.#cluster.ask(random.pick(running), (node) => node.reportGone(random.pick(ids)));
    if (random.chance(5)) this.#cluster.ask(random.pick(running), (node) => node.stepDown());
    if (random.chance(profile.crash)) this.#crash(this.#victim(running));
    if (random.chance(profile.pause)) this.#pause(this.#victim(running));
    if (random.chance(profile.compaction)) this.#checkpoint(random.pick(running));
    if (profile.damage > 0 && random.chance(profile.damage)) this.#damage();
  }

  /** Damages the disk of a stopped member, if the others are enough without it. */
  #damage(): void {
    const stopped = this.#cluster.all.filter(({ process, disk }) => {
      return process === undefined && !disk.isDamaged && disk.checkpoint.meta.index > noIndex;
    });
    if (stopped.length === 0) return;
    const victim = this.#world.random.pick(stopped);
    const isIntact = (id: MemberId) => id !== victim.id && this.#cluster.member(id)?.disk.isDamaged === false;
    if (this.#cluster.suffice(isIntact)) this.#cluster.damage(victim);
  }

  /**
   * Partitions the network. A leader that does not know yet that it is cut off may begin a change that no other member
   * learns of.
   */
  #partition(ids: readonly MemberId[]): void {
    const { random, profile } = this.#world;
    this.#network.partition(ids, this.#cluster.pickLeader()?.id);
    if (profile.membership > 0 && random.chance(500)) this.#changeMembership();
  }

  /** Picks a victim, often the leader. */
  #victim(running: readonly SimMember[]): SimMember {
    const leader = this.#world.random.chance(400) ? this.#cluster.pickLeader() : undefined;
    return leader ?? this.#world.random.pick(running);
  }

  /** Crashes a member at once, or at its next visit to a crash point. */
  #crash(member: SimMember): void {
    const { random } = this.#world;
    if (random.chance(400)) {
      this.#cluster.crash(member.id);
      this.#tellGone(member.id);
    } else member.armed = random.pick(crashPoints);
  }

  /** Reports the broken connections of a crashed process to some of the others, at once. */
  #tellGone(id: MemberId): void {
    const { random } = this.#world;
    for (const other of this.#cluster.running) {
      if (random.chance(700)) this.#cluster.ask(other, (node) => node.reportGone(id));
    }
  }

  #pause(member: SimMember): void {
    member.pausedUntil = this.#world.now + this.#world.random.between(1, pauseElectionsMax * electionUnits);
  }

  #checkpoint(member: SimMember): void {
    if (member.process !== undefined) member.checkpoint(member.process);
  }

  #transfer(ids: readonly MemberId[]): void {
    const leader = this.#cluster.pickLeader();
    if (leader === undefined) return;
    this.#cluster.ask(leader, (node) => node.transferLeadership(this.#world.random.pick(ids)));
  }

  #changeMembership(): void {
    const { random } = this.#world;
    const leader = this.#cluster.pickLeader();
    if (leader?.process === undefined) return;
    const membership = leader.process.node.log.memberships.at(-1)?.membership ?? noMembership;
    const steps: ConfStep[] = [];
    for (let step = random.between(1, 3); step > 0; step--) {
      const operation = random.pick<ConfOperation>(["addLearner", "promote", "promote", "demote", "remove"]);
      const member = this.#pickFor(operation, membership);
      if (member !== undefined) steps.push({ operation, member });
    }
    this.#cluster.ask(leader, (node) => node.proposeConfChange({ steps, context: noContext }));
  }

  #pickFor(operation: ConfOperation, { voters, learners }: Membership): MemberId | undefined {
    const { random } = this.#world;
    const isDamaged = (id: MemberId) => this.#cluster.member(id)?.disk.isDamaged === true;
    // Operators replace a damaged member before they touch another one.
    const damaged = [...voters, ...learners].filter(isDamaged);
    if (operation === "promote") return pickOne(random, without(learners, damaged));
    if (operation === "demote") return pickOne(random, damaged.length > 0 ? without(damaged, learners) : voters);
    if (operation === "remove") return pickOne(random, damaged.length > 0 ? damaged : [...voters, ...learners]);
    if (this.#cluster.size >= everMembersMax || voters.length + learners.length >= membersMax) return undefined;
    const id = (this.#cluster.size + 1) as MemberId;
    this.#cluster.add(id, noMembership);
    return id;
  }
}

function pickOne(random: SeededRandom, members: readonly MemberId[]): MemberId | undefined {
  return members.length === 0 ? undefined : random.pick(members);
}

function without(members: readonly MemberId[], others: readonly MemberId[]): MemberId[] {
  return members.filter((id) => !others.includes(id));
}
