import type { Clock } from "../api/clock.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { namespaceFinalizer } from "../api/vendor.ts";
import { systemUser } from "../authentication/system-user.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry, WriteContext } from "../registry/registry.ts";
import { namespaceFinalizeStrategy } from "../registry/resources/core/namespace.ts";
import type { DeleteOptions } from "../registry/strategy.ts";
import type { ProposedBody, Store, StoreEvent } from "../storage/store.ts";

/** Content with finalizers or grace of its own is looked at again after this time. */
const retryMs = 1_000;

const deleteOptions: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: "Background",
  orphanDependents: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
  dryRun: false,
};
const context: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };

const nothing: ProposedBody = { prefix: new Uint8Array(), suffix: new Uint8Array() };

export interface NamespaceDeletionParts {
  readonly registries: Registries;
  readonly namespaces: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Empties namespaces that are being deleted, and lets them go: pods first, then everything else, then the finalizer.
 * One namespace at a time; the set of waiting names is bounded by the number of namespaces.
 */
export class NamespaceDeletion {
  readonly #parts: NamespaceDeletionParts;
  readonly #waiting = new Set<string>();
  readonly #timers = new Set<Disposable>();
  #running = false;
  #stopped = false;

  constructor(parts: NamespaceDeletionParts) {
    this.#parts = parts;
  }

  /** Takes up what an earlier run left, then follows the store. */
  start(): Disposable {
    const { store, namespaces } = this.#parts;
    for (const { key } of store.scan(namespaces.info.keyPrefix)) this.#consider(key);
    const subscription = store.subscribe((events) => this.#receive(events));
    return {
      [Symbol.dispose]: () => {
        this.#stopped = true;
        subscription[Symbol.dispose]();
        for (const timer of this.#timers) timer[Symbol.dispose]();
      },
    };
  }

  #receive(events: readonly StoreEvent[]): void {
    const { keyPrefix } = this.#parts.namespaces.info;
    for (const { entry, type } of events) {
      if (type === "MODIFIED" && entry.key.startsWith(keyPrefix)) this.#consider(entry.key);
    }
  }

  #consider(key: string): void {
    const name = key.slice(this.#parts.namespaces.info.keyPrefix.length);
    this.#waiting.add(name);
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // Off the store's notification: the listener must return at once.
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    for (const name of this.#waiting) {
      if (this.#stopped) break;
      this.#waiting.delete(name);
      try {
        await this.#finish(name);
      } catch (error) {
        this.#parts.onError(error);
        this.#retry(name);
      }
    }
    this.#running = false;
  }

  async #finish(name: string): Promise<void> {
    const namespace = this.#parts.namespaces.current("", name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    if (!specFinalizers(namespace).includes(namespaceFinalizer)) return;
    await this.#settle(name);
    let remaining = 0;
    for (const registry of podsFirst(this.#parts.registries.all())) {
      if (registry.info.namespaced) remaining += await this.#empty(registry, name);
    }
    if (remaining > 0) {
      this.#retry(name);
      return;
    }
    const finalizers = specFinalizers(namespace).filter((finalizer) => finalizer !== namespaceFinalizer);
    await this.#parts.namespaces.update(
      "",
      name,
      (old) => ({ ...old, spec: finalizers.length === 0 ? {} : { finalizers } }),
      context,
      { strategy: namespaceFinalizeStrategy, subresource: "finalize", reapplies: true },
    );
  }

  /**
   * Creations that were admitted before the deletion was visible may still be on their way to the disk. A command that
   * does nothing waits behind them: what is listed after it includes them, and later ones are refused.
   */
  async #settle(name: string): Promise<void> {
    const { namespaces, store } = this.#parts;
    await store.commit({
      id: crypto.randomUUID(),
      key: namespaces.keyOf("", name),
      expect: { kind: "absent" },
      operation: { kind: "delete", last: nothing },
    });
  }

  /** Deletes what the namespace holds of one resource; returns how many objects are left. */
  async #empty(registry: Registry, namespace: string): Promise<number> {
    const prefix = `${registry.info.keyPrefix}${namespace}/`;
    const page = await registry.cacher.list({ prefix });
    let remaining = 0;
    for (const { key } of page.entries) {
      if (!(await this.#delete(registry, namespace, key.slice(prefix.length)))) remaining++;
    }
    return remaining;
  }

  async #delete(registry: Registry, namespace: string, name: string): Promise<boolean> {
    try {
      const { removed } = await registry.delete(namespace, name, deleteOptions, context);
      return removed;
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return true;
      throw error;
    }
  }

  #retry(name: string): void {
    if (this.#stopped) return;
    const { clock, namespaces } = this.#parts;
    const timer = clock.after(retryMs, () => {
      this.#timers.delete(timer);
      this.#consider(namespaces.info.keyPrefix + name);
    });
    this.#timers.add(timer);
  }
}

function specFinalizers(namespace: KubeObject): readonly string[] {
  return (namespace["spec"] as { finalizers?: string[] } | undefined)?.finalizers ?? [];
}

/** Pods may use what else is in the namespace until they are gone. */
function podsFirst(registries: Iterable<Registry>): Registry[] {
  const isPod = ({ info }: Registry) => info.group === "" && info.resource === "pods";
  const all = [...registries];
  return [...all.filter(isPod), ...all.filter((registry) => !isPod(registry))];
}
