import type { MemberId } from "../../core/ids.ts";
import { noIndex, noMember, noTerm } from "../../core/ids.ts";
import type { Membership } from "../../core/membership.ts";
import { noMembership } from "../../core/membership.ts";
import type { RawNode } from "../../core/raw-node.ts";
import { type Checker, isQuorum } from "./checker.ts";
import { DiskImage } from "./disk-image.ts";
import type { Machine } from "./machine.ts";
import { electionUnits } from "./profile.ts";
import type { Audience } from "./sim-member.ts";
import { SimMember } from "./sim-member.ts";
import type { World } from "./world.ts";

/** Election timeouts within which a crashed process restarts. */
const downElectionsMax = 5;

/** All past and present members of the cluster. A removed one may still run. */
export class Cluster {
  readonly #world: World;
  readonly #checker: Checker;
  readonly #audience: Audience;
  readonly #newMachine: () => Machine;
  readonly all: SimMember[] = [];
  readonly #members = new Map<MemberId, SimMember>();
  crashes = 0;
  /** Number of disks that damaged their data. */
  damages = 0;

  constructor(world: World, checker: Checker, audience: Audience, newMachine: () => Machine) {
    this.#world = world;
    this.#newMachine = newMachine;
    this.#checker = checker;
    this.#audience = audience;
  }

  get size(): number {
    return this.#members.size;
  }

  /** The members that run and are not paused. */
  get running(): SimMember[] {
    const { now } = this.#world;
    return this.all.filter(({ process, pausedUntil }) => process !== undefined && pausedUntil <= now);
  }

  /** The members that believe that they lead. */
  get leaders(): SimMember[] {
    return this.running.filter(({ process }) => process?.node.softState.role === "leader");
  }

  /** Picks a random leader. */
  pickLeader(): SimMember | undefined {
    const { leaders } = this;
    return leaders.length === 0 ? undefined : this.#world.random.pick(leaders);
  }

  /** The leader if there is exactly one, otherwise `undefined`. */
  get onlyLeader(): SimMember | undefined {
    const { leaders } = this;
    return leaders.length === 1 ? leaders[0] : undefined;
  }

  member(id: MemberId): SimMember | undefined {
    return this.#members.get(id);
  }

  /** Adds a member with an empty disk that believes in `membership`. */
  add(id: MemberId, membership: Membership): void {
    const meta = { index: noIndex, term: noTerm, membership };
    const state = this.#newMachine();
    const disk = new DiskImage({ term: noTerm, vote: noMember, commit: noIndex }, { meta, state });
    const member = new SimMember(id, disk, this.#world, this.#checker, this.#audience);
    this.#members.set(id, member);
    this.all.push(member);
    member.start();
  }

  crash(id: MemberId): void {
    const member = this.#members.get(id);
    if (member?.process === undefined) return;
    member.crash();
    this.crashes++;
    const { random, isCalm } = this.#world;
    const delay = () => random.between(1, downElectionsMax * electionUnits);
    if (!isCalm) this.#world.schedule(delay(), { kind: "restart", member: id });
  }

  /** Reports whether these members are a quorum of every membership that may be in force. */
  suffice(members: (id: MemberId) => boolean): boolean {
    const memberships = this.all.flatMap(membershipsOf).filter(({ voters }) => voters.length > 0);
    return memberships.every((membership) => isQuorum(membership, members));
  }

  /** Damages the disk of a stopped member. */
  damage(member: SimMember): void {
    member.disk.damage(this.#world.random);
    this.damages++;
  }

  /** Makes a request to a member from outside. */
  ask(member: SimMember, question: (node: RawNode) => void): void {
    if (member.process === undefined) return;
    question(member.process.node);
    member.settle(member.process);
  }

  /** The membership in force at the only leader. */
  get membership(): Membership {
    return this.onlyLeader?.process?.node.log.memberships.at(-1)?.membership ?? noMembership;
  }

  /** Reports whether the only leader counts the member in. */
  counts(id: MemberId): boolean {
    const { voters, outgoing, learners } = this.membership;
    return voters.includes(id) || outgoing.includes(id) || learners.includes(id);
  }
}

/** Returns all memberships that the member could bring into force. */
function membershipsOf({ disk, process }: SimMember): Membership[] {
  const inMemory = process?.node.log.memberships.map(({ membership }) => membership) ?? [];
  return [...inMemory, ...disk.memberships()];
}
