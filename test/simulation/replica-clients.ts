import type { MemberId } from "../../raft/core/ids.ts";
import type { Clients } from "../../raft/testing/simulator/application.ts";
import type { Machine } from "../../raft/testing/simulator/machine.ts";
import { electionUnits } from "../../raft/testing/simulator/profile.ts";
import type { SimMember } from "../../raft/testing/simulator/sim-member.ts";
import { must, Violation } from "../../raft/testing/simulator/violation.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import { StatusError } from "../../src/api/status.ts";
import { StoreUnavailableError } from "../../src/storage/store.ts";
import { Knowledge } from "./knowledge.ts";
import type { Mutation } from "./mutation.ts";
import { RegistryClient } from "./registry-client.ts";
import { ReplicaAudience } from "./replica-audience.ts";
import type { ReplicaMachine } from "./replica-machine.ts";
import { type ServingCounts, ServingTraits } from "./serving-processes.ts";
import { colors, resources } from "./simulated-object.ts";
import type { SimulatedRuntime } from "./simulated-runtime.ts";
import { ConnectionLost, type SimulatedServer } from "./simulated-server.ts";
import { type Counts, StoreClient } from "./store-client.ts";
import { type Truth, textOf, versionOf } from "./truth.ts";
import { WatchClient, type WatchScope } from "./watch-client.ts";

/** Time after which a waiting client continues. A later answer still counts. */
const patienceUnits = 4 * electionUnits;
const requestsPerClientMax = 4;
const watchesPerClient = 2;
const restartUnitsMax = 2 * electionUnits;

export interface ReplicaCounts extends Counts, Partial<ServingCounts> {
  watchEvents: number;
  watchResumes: number;
  watchRewinds: number;
  watchBookmarks: number;
  watchLists: number;
  watchesExpired: number;
  registryWrites: number;
  registryRefusals: number;
}

interface Client {
  readonly store: StoreClient;
  readonly registry: RegistryClient;
  readonly watches: readonly WatchClient[];
  open: number;
  askedAt: number;
}

export interface ReplicaClientsOptions {
  readonly world: World;
  readonly truth: Truth;
  readonly mutation: Mutation | undefined;
  readonly runtime: SimulatedRuntime;
  /** Whether replicas have serving processes. */
  readonly isServed: boolean;
}

/** The clients of all replicas. Answers are checked when they arrive; `settled` reports the violations. */
export class ReplicaClients extends ReplicaAudience implements Clients {
  readonly #world: World;
  readonly #truth: Truth;
  readonly #mutation: Mutation | undefined;
  readonly #runtime: SimulatedRuntime;
  readonly #knowledge = new Knowledge();
  readonly #clients: readonly Client[];
  readonly #judge: StoreClient;
  #asked: readonly SimulatedServer[] = [];
  readonly #serving: ServingTraits | undefined;
  #operations = 0;
  #judging = new Set<MemberId>();
  #failure: unknown;
  readonly servedBy = new Set<MemberId>();
  /** Number of orderly restarts per 1000 requests. */
  readonly #restarts: number;

  constructor({ world, truth, mutation, runtime, isServed }: ReplicaClientsOptions) {
    const { random, profile } = world;
    const limits = {
      windowEventsMax: random.pick([2, 10, 100, 10_000]),
      windowEventsMin: 1,
      historyEventsMax: random.pick([1, 2, 5, 128]),
    };
    const fail = (error: Violation) => void (this.#failure ??= error);
    const serving = isServed ? new ServingTraits(world, fail) : undefined;
    super({ world, mutation, limits, serving, dropped: (index, term) => truth.dropped(index, term) });
    this.#serving = serving;
    this.#world = world;
    this.#truth = truth;
    this.#mutation = mutation;
    this.#runtime = runtime;
    const stalls = random.pick([0, 20, 200]);
    this.#restarts = random.pick([0, 0, 5, 30]);
    this.#judge = this.#newClient();
    this.#clients = Array.from({ length: profile.clients }, () => ({
      store: this.#newClient(),
      registry: this.#newRegistryClient(),
      watches: Array.from({ length: watchesPerClient }, () => this.#newWatch(stalls)),
      open: 0,
      askedAt: 0,
    }));
  }

  get readsServed(): number {
    return this.counts().checkedReads;
  }

  get waitsFor(): string {
    return this.#clients
      .map(
        ({ open, watches }) =>
          `${open} ` + watches.map((w) => `${w.isConnected} ${w.isOn(this.#asked)} ${w.isUpToDate} ${w.last}`).join(),
      )
      .join("; ");
  }

  get isIdle(): boolean {
    return this.#clients.every(({ open, watches }) => {
      return open === 0 && watches.every((watch) => watch.isOn(this.#asked) && watch.isUpToDate);
    });
  }

  counts(): ReplicaCounts {
    const all = [...this.#clients.map(({ store }) => store), this.#judge].map(({ counts }) => counts);
    const watches = this.#clients.flatMap((client) => client.watches);
    const sum = (of: (watch: WatchClient) => number) => watches.reduce((total, watch) => total + of(watch), 0);
    const total = { ...this.#judge.counts };
    for (const name of Object.keys(total) as (keyof Counts)[]) {
      total[name] = all.reduce((so, counts) => so + counts[name], 0);
    }
    return {
      ...total,
      ...this.#serving?.counts,
      damagedReads: total.damagedReads + sum(({ damagedReads }) => damagedReads),
      watchEvents: sum(({ events }) => events),
      watchResumes: sum(({ resumes }) => resumes),
      watchRewinds: sum(({ rewinds }) => rewinds),
      watchBookmarks: sum(({ bookmarks }) => bookmarks),
      watchLists: sum(({ lists }) => lists),
      watchesExpired: sum(({ expired }) => expired),
      registryWrites: this.#clients.reduce((so, { registry }) => so + registry.written, 0),
      registryRefusals: this.#clients.reduce((so, { registry }) => so + registry.refused, 0),
    };
  }

  override stopped(member: SimMember): void {
    this.#judging.delete(member.id);
    super.stopped(member);
  }

  turn(number: number, members: readonly SimMember[], mayBegin: boolean): void {
    const client = this.#clients[number];
    if (client === undefined) return;
    const { random, now } = this.#world;
    const replicas = members.flatMap(({ id }) => this.of(id) ?? []).filter(({ isClosing }) => !isClosing);
    this.#asked = replicas.flatMap(({ servers }) => servers);
    for (const watch of client.watches) this.#turnWatch(watch, mayBegin);
    const server = this.#pickServer();
    if (!mayBegin || server === undefined || client.open >= requestsPerClientMax) return;
    if (client.open > 0 && now - client.askedAt < patienceUnits && !random.chance(200)) return;
    if (random.chance(this.#restarts))
      this.#run(() => server.replica.restart(random.below(restartUnitsMax), random.between(1, restartUnitsMax)));
    const usesRegistry = random.chance(250);
    client.open++;
    client.askedAt = now;
    this.#run(async () => {
      await (usesRegistry ? client.registry : client.store).ask(server);
      client.open--;
    });
  }

  read(member: SimMember): void {
    const replica = this.of(member.id);
    if (replica === undefined || this.#judging.has(member.id)) return;
    this.#judging.add(member.id);
    this.#run(async () => {
      try {
        for (const server of replica.servers) await this.#judge.readNewest(server);
        if (this.of(member.id) === replica && replica.areAllReady) this.servedBy.add(member.id);
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
      if (this.of(member.id) === replica) this.#judging.delete(member.id);
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
  }

  checkEnd(machine: Machine | undefined): void {
    const { state } = machine as ReplicaMachine;
    this.#truth.checkDropped();
    this.#checkDeletions();
    const held = state.objects.scan("").map((entry) => textOf(versionOf(entry)));
    const expected = resources.flatMap((prefix) => this.#truth.listAt(prefix, this.#truth.revision)).map(textOf);
    must(
      held.join("\n") === expected.join("\n"),
      () => `the end is\n${held.join("\n")}\nand not\n${expected.join("\n")}`,
    );
    must(state.objects.revision >= this.#knowledge.revision, () => `the end is at ${state.objects.revision}`);
    for (const { store, registry } of this.#clients) {
      for (const operation of [...store.notDone, ...registry.notDone]) {
        const verdict = this.#truth.verdictOn(operation);
        must(
          verdict?.revision === undefined,
          () => `operation ${operation} was said not to be done, and got ${verdict?.revision}`,
        );
      }
    }
  }

  /** Checks that each acknowledged deletion was acknowledged to one client only. */
  #checkDeletions(): void {
    const told = new Map<string, number>();
    for (const { registry } of this.#clients) {
      for (const [key, times] of registry.deleted) told.set(key, (told.get(key) ?? 0) + times);
    }
    for (const [key, times] of told) {
      const deletions = this.#truth.deletionsOf(key);
      must(times <= deletions, () => `${key} was deleted ${deletions} times, and ${times} were told so`);
    }
  }

  #newRegistryClient(): RegistryClient {
    return new RegistryClient({
      world: this.#world,
      truth: this.#truth,
      knowledge: this.#knowledge,
      nextOperation: () => ++this.#operations,
    });
  }

  #turnWatch(watch: WatchClient, mayBegin: boolean): void {
    const { random } = this.#world;
    if (watch.isConnected) {
      if (mayBegin ? random.chance(30) : !watch.isOn(this.#asked)) watch.disconnect();
      return;
    }
    const server = this.#pickServer();
    if (server !== undefined) this.#run(() => watch.connect(server));
  }

  #pickServer(): SimulatedServer | undefined {
    return this.#asked.length === 0 ? undefined : this.#world.random.pick(this.#asked);
  }

  #newClient(): StoreClient {
    return new StoreClient({
      world: this.#world,
      truth: this.#truth,
      knowledge: this.#knowledge,
      nextOperation: () => ++this.#operations,
      pickServer: () => this.#pickServer(),
      hidesUnknown: this.#mutation === "unknownSaidNotDone",
    });
  }

  #newWatch(stalls: number): WatchClient {
    const { random } = this.#world;
    const resource = random.pick(resources);
    const scope: WatchScope = {
      resource,
      prefix: random.chance(600) ? resource : `${resource}b/`,
      color: random.chance(400) ? random.pick(colors) : undefined,
    };
    const skips = this.#mutation === "watchSkipsAtResume";
    return new WatchClient({
      world: this.#world,
      truth: this.#truth,
      knowledge: this.#knowledge,
      scope,
      stalls,
      skips,
    });
  }

  #run(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      this.#failure ??= error instanceof Violation ? error : new Violation(`a client fails: ${describe(error)}`);
    });
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ConnectionLost || error instanceof StoreUnavailableError || error instanceof StatusError;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
