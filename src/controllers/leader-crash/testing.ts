import type { PluginName } from "../../admission/plugin-names.ts";
import type { QuotaAccountant } from "../../admission/resource-quota/accountant.ts";
import { zeroRevision } from "../../api/revision.ts";
import { status } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Store } from "../../storage/store.ts";
import { parseControllers } from "../controller-names.ts";
import { type ObjectControllersParts, startObjectControllers } from "../object-controllers.ts";
import { ControllerTest, pluginsWithoutAccounts } from "../testing.ts";

/** Number of turns without a write after which nothing more happens until a timer fires. */
const quietTurns = 12;
/** Maximum time that leaders may continue to write when they should have finished. */
const extraSecondsMax = 600;

/** The parts of one leader. No other leader shares its registries. */
export interface LeaderParts {
  readonly catalog: Catalog;
  readonly registries: Registries;
  readonly quotas: QuotaAccountant;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export interface Term {
  /** The leader crashes at the write after these. Without it, the leader finishes its work. */
  readonly writes?: number | undefined;
  /** Whether the write during which the leader crashes is applied. Nobody receives the answer in either case. */
  readonly lastIsApplied?: boolean | undefined;
}

export interface Course {
  /** Simulated time until the work is done, unless a leader writes for longer. */
  readonly seconds?: number | undefined;
  /** Simulates the rest of the cluster. */
  readonly everySecond?: (() => Promise<void>) | undefined;
}

/** A cluster whose leaders may crash between any two of their writes. */
export class CrashTest extends ControllerTest {
  readonly #start: (parts: LeaderParts) => Disposable;
  #leader: Disposable | undefined;
  /** Number of writes by leaders. */
  writes = 0;

  private constructor(start: (parts: LeaderParts) => Disposable, admissionPlugins: readonly PluginName[]) {
    super(admissionPlugins);
    this.#start = start;
  }

  static async openFor(start: (parts: LeaderParts) => Disposable): Promise<CrashTest> {
    const test = new CrashTest(start, pluginsWithoutAccounts);
    await test.createNamespaces();
    return test;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#leader?.[Symbol.dispose]();
    await super[Symbol.asyncDispose]();
  }

  /** Runs one leader after the other, then one that does not crash until all work is done. */
  async run(terms: readonly Term[], course: Course = {}): Promise<void> {
    for (const term of [...terms, {}]) {
      await this.#lead(term, course);
      this.#leader?.[Symbol.dispose]();
    }
  }

  async #lead({ writes = Number.POSITIVE_INFINITY, lastIsApplied }: Term, course: Course): Promise<void> {
    let left = writes;
    let hasCrashed = false;
    const commit: Store["commit"] = async (command) => {
      if (left < 0) return new Promise(() => {});
      this.writes++;
      if (left-- > 0) return this.store.commit(command);
      if (lastIsApplied === true) await this.store.commit(command);
      hasCrashed = true;
      return new Promise(() => {});
    };
    const store = throughCommit(this.store, commit);
    const { clock, onError } = this;
    this.#leader = this.#start({ ...this.openRegistries(store), store, clock, onError });
    await this.#pass(course, () => hasCrashed);
  }

  /** Lets time pass until all work is done, or the leader has crashed. */
  async #pass({ seconds = 1, everySecond }: Course, hasCrashed: () => boolean): Promise<void> {
    await this.#quiet(hasCrashed);
    let writesBefore = this.writes;
    for (let second = 0; second < seconds || this.writes > writesBefore; second++) {
      if (hasCrashed()) return;
      if (second > seconds + extraSecondsMax) throw new Error("the leader never stops writing");
      writesBefore = this.writes;
      await everySecond?.();
      this.clock.advance(1_000);
      await this.#quiet(hasCrashed);
    }
  }

  async #quiet(hasCrashed: () => boolean): Promise<void> {
    for (let quiet = 0; quiet < quietTurns && !hasCrashed(); quiet++) {
      const { revision } = this.store;
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.store.revision !== revision) quiet = 0;
    }
  }
}

function throughCommit(store: Store, commit: Store["commit"]): Store {
  return new Proxy<Store>(store, {
    get(target, property) {
      if (property === "commit") return commit;
      const value = Reflect.get(target, property, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export type ControllerSettings = Pick<ObjectControllersParts, "nodeCidrRanges" | "nodeLifecycle" | "terminatedPodsMax">;

/** Starts every controller that `startObjectControllers` knows. */
export function startEveryController(parts: LeaderParts, settings: ControllerSettings): Disposable {
  const nothing = { [Symbol.dispose]() {} };
  const slices = { changed() {}, synced() {}, observeTotals: () => nothing };
  return startObjectControllers({
    ...parts,
    ...settings,
    controllers: parseControllers("*"),
    client: { get: ({ group, resource }, { name }) => Promise.reject(status.notFound({ group, resource, name })) },
    ca: { pem: () => "authority", follow: () => nothing },
    servers: { inherited: zeroRevision },
    serviceAllocation: undefined,
    sliceObservers: { services: slices, mirrors: slices },
  });
}
