import type { Clock } from "../api/clock.ts";
import type { JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { systemUser } from "../authentication/system-user.ts";
import { aggregatedRules, hasRules } from "../authorization/rbac/aggregate.ts";
import type { Registry, WriteContext } from "../registry/registry.ts";
import type { Store } from "../storage/store.ts";

const retryMs = 1_000;
/** Roles that pick each other never come to rest; then the rest waits for the next change. */
const roundsMax = 10;

const context: WriteContext = {
  user: systemUser,
  manager: "clusterrole-aggregation-controller",
  dryRun: false,
  warn() {},
};

export interface ClusterRoleAggregationParts {
  readonly clusterRoles: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Fills aggregated ClusterRoles with the rules of the roles that they select, whenever a ClusterRole changes. */
export class ClusterRoleAggregation {
  readonly #parts: ClusterRoleAggregationParts;
  #changed = false;
  #running = false;
  #stopped = false;
  #retry: Disposable | undefined;

  constructor(parts: ClusterRoleAggregationParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { store, clusterRoles } = this.#parts;
    const { keyPrefix } = clusterRoles.info;
    const subscription = store.subscribe((events) => {
      if (events.some(({ entry }) => entry.key.startsWith(keyPrefix))) this.#consider();
    });
    this.#consider();
    return {
      [Symbol.dispose]: () => {
        this.#stopped = true;
        subscription[Symbol.dispose]();
        this.#retry?.[Symbol.dispose]();
      },
    };
  }

  #consider(): void {
    this.#changed = true;
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // Off the store's notification: the listener must return at once.
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    try {
      for (let round = 0; this.#changed && !this.#stopped && round < roundsMax; round++) {
        this.#changed = false;
        await this.#aggregate();
      }
    } catch (error) {
      if (!this.#stopped) this.#retryLater(error);
    } finally {
      this.#running = false;
    }
  }

  async #aggregate(): Promise<void> {
    const roles = await this.#clusterRoles();
    for (const role of roles) {
      const rules = aggregatedRules(role, roles);
      if (rules === undefined || hasRules(role, rules)) continue;
      await this.#write(role.metadata.name ?? "", rules);
    }
  }

  async #write(name: string, rules: JsonValue[]): Promise<void> {
    try {
      await this.#parts.clusterRoles.update("", name, (old) => ({ ...old, rules }), context, { reapplies: true });
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }

  async #clusterRoles(): Promise<KubeObject[]> {
    const { clusterRoles } = this.#parts;
    const { keyPrefix } = clusterRoles.info;
    const page = await clusterRoles.cacher.list({ prefix: keyPrefix });
    return page.entries.flatMap(({ key }) => clusterRoles.current("", key.slice(keyPrefix.length)) ?? []);
  }

  #retryLater(error: unknown): void {
    const { clock, onError } = this.#parts;
    onError(error);
    this.#retry?.[Symbol.dispose]();
    this.#retry = clock.after(retryMs, () => this.#consider());
  }
}
