import type { MemberId } from "../../../raft/core/ids.ts";
import type { Clients } from "../../../raft/testing/simulator/application.ts";
import { electionUnits } from "../../../raft/testing/simulator/profile.ts";
import type { Process, SimMember } from "../../../raft/testing/simulator/sim-member.ts";
import { must, Violation } from "../../../raft/testing/simulator/violation.ts";
import type { World } from "../../../raft/testing/simulator/world.ts";
import { StoreUnavailableError } from "../../../src/storage/store.ts";
import { ReplicaAudience } from "../replica-audience.ts";
import type { SimulatedRuntime } from "../simulated-runtime.ts";
import { ConnectionLost } from "../simulated-server.ts";
import { Actor } from "./actor.ts";
import { ControllerReplica } from "./controller-replica.ts";
import { NodeAgents } from "./node-agents.ts";
import { unfinishedWork } from "./unfinished-work.ts";
import { Users } from "./users.ts";

/** Time after which a client gives up an answer and continues. */
const patienceUnits = 2 * electionUnits;
/** Maximum error of the date of a machine. Times in objects, such as the end of a Job, are compared with it. */
const skewMsMax = 2_000;
/** Time between two comparisons of the state with its end. */
const checkUnits = electionUnits;

export interface ControllerClientsOptions {
  readonly world: World;
  readonly runtime: SimulatedRuntime;
}

/**
 * Users and the agents of nodes, who make requests at all replicas, while the leader of the controllers does the rest.
 * The end of a seed comes when nothing is left to do.
 */
export class ControllerClients extends ReplicaAudience implements Clients {
  readonly #world: World;
  readonly #runtime: SimulatedRuntime;
  readonly #controllers = new Map<MemberId, ControllerReplica>();
  readonly #agents: NodeAgents;
  readonly #users: Users;
  /** Times since which clients wait for an answer. */
  readonly #busySince = new Map<number, number>();
  readonly #judging = new Set<MemberId>();
  #leading: readonly ControllerReplica[] = [];
  /** Number of times that a replica began to lead. */
  leads = 0;
  #failure: unknown;
  #checkedAt = Number.NEGATIVE_INFINITY;
  waitsFor: string | undefined = "the first check";
  readonly servedBy = new Set<MemberId>();
  readsServed = 0;

  constructor({ world, runtime }: ControllerClientsOptions) {
    super({ world, limits: {}, skewMsMax, dropped() {} });
    this.#world = world;
    this.#runtime = runtime;
    this.#agents = new NodeAgents(world);
    this.#users = new Users(world);
  }

  get isIdle(): boolean {
    if (this.#world.now - this.#checkedAt < checkUnits) return this.waitsFor === undefined;
    this.#checkedAt = this.#world.now;
    const leader = [...this.#controllers.values()].find(({ leads }) => leads);
    this.waitsFor =
      leader === undefined
        ? "a leader of the controllers"
        : unfinishedWork(leader.replica.store.scan(""), this.#agents.silent);
    return this.waitsFor === undefined;
  }

  override started(member: SimMember, process: Process): void {
    super.started(member, process);
    const replica = this.of(member.id);
    if (replica === undefined) return;
    const fail = (error: unknown) => void (this.#failure ??= error);
    this.#controllers.set(member.id, new ControllerReplica(replica, this.#world, fail));
  }

  override stopped(member: SimMember): void {
    this.#judging.delete(member.id);
    this.#controllers.delete(member.id);
    super.stopped(member);
  }

  turn(number: number, members: readonly SimMember[], mayBegin: boolean): void {
    const { random, now } = this.#world;
    const since = this.#busySince.get(number);
    if (since !== undefined && now - since < patienceUnits) return;
    const asked = members.flatMap(({ id }) => this.#controllers.get(id) ?? []);
    if (asked.length === 0) return;
    const controllers = random.pick(asked);
    const actor = new Actor(controllers);
    const { clock, store } = controllers.replica;
    this.#busySince.set(number, now);
    this.#run(async () => {
      if (mayBegin && random.chance(20)) this.#agents.disturb();
      if (store.get("/registry/namespaces/a") === undefined) await this.#users.found(actor);
      else if (mayBegin && random.chance(500)) await this.#users.act(actor, store, clock);
      else await this.#agents.work(actor, store, clock);
      if (this.#busySince.get(number) === now) this.#busySince.delete(number);
    });
  }

  read({ id }: SimMember): void {
    const replica = this.of(id);
    if (replica === undefined || this.#judging.has(id)) return;
    this.#judging.add(id);
    this.#run(async () => {
      try {
        await replica.call(async () => void (await replica.store.readBarrier()));
        this.readsServed++;
        if (this.of(id) === replica) this.servedBy.add(id);
      } catch (error) {
        if (!(error instanceof ConnectionLost || error instanceof StoreUnavailableError)) throw error;
      }
      if (this.of(id) === replica) this.#judging.delete(id);
    });
  }

  beginCalm(): void {
    this.servedBy.clear();
  }

  forgetOldReads(): void {
    // Reads end by themselves.
  }

  settled(): void {
    this.#runtime.settle();
    if (this.#failure !== undefined) throw this.#failure;
    const leading = [...this.#controllers.values()].filter(({ leads }) => leads);
    for (const leader of leading) {
      if (this.#leading.includes(leader)) continue;
      this.leads++;
    }
    this.#leading = leading;
    const awake = leading.filter(({ replica }) => replica.member.pausedUntil <= this.#world.now);
    must(awake.length <= 1, () => `members ${awake.map(({ replica }) => replica.id).join()} lead at the same time`);
  }

  checkEnd(): void {
    must(this.isIdle, () => `the end waits for ${this.waitsFor}`);
  }

  #run(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      this.#failure ??= error instanceof Violation ? error : new Violation(`a client fails: ${describe(error)}`);
    });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
