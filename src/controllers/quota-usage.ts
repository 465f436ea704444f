import type { QuotaAccountant } from "../admission/resource-quota/accountant.ts";
import { isCounted } from "../admission/resource-quota/quota.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Key } from "../api/entry.ts";
import type { ResourceQuota } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Catalog } from "../registry/catalog.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";

/** Interval at which all quotas are counted again, to correct missed changes such as a manually written status. */
const resyncIntervalMs = 300_000;

export interface QuotaUsageParts {
  readonly registries: Registries;
  readonly catalog: Catalog;
  readonly quotas: QuotaAccountant;
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * Requests a new count of quotas when usage may have decreased or limits have changed: an object was deleted, or a pod
 * has ended.
 */
export class QuotaUsage {
  readonly #parts: QuotaUsageParts;
  readonly #quotas: QuotaAccountant;
  readonly #registry: Registry;
  readonly #podPrefix: Key | undefined;

  /** @param registry registry of resourcequotas */
  constructor(parts: QuotaUsageParts, registry: Registry) {
    this.#parts = parts;
    this.#quotas = parts.quotas;
    this.#registry = registry;
    this.#podPrefix = parts.registries.find({ group: "", resource: "pods" })?.info.keyPrefix;
  }

  start(): Disposable {
    const { store, clock } = this.#parts;
    const running = new DisposableStack();
    running.use(store.subscribe((events) => this.#receive(events)));
    running.use(clock.every(resyncIntervalMs, () => this.#recountAll()));
    this.#recountAll();
    return running;
  }

  #recountAll(): void {
    for (const { key } of this.#registry.cacher.entries()) this.#recount(key);
  }

  #receive(events: readonly StoreEvent[]): void {
    for (const event of events) {
      const { key } = event.entry;
      if (key.startsWith(this.#registry.info.keyPrefix)) this.#receiveQuota(event);
      else if (event.type === "DELETED" || this.#hasEnded(event)) this.#recount(key);
    }
  }

  #receiveQuota({ type, entry }: StoreEvent): void {
    if (type === "DELETED") return;
    const quota = decodeEntry(entry, this.#registry.info) as ResourceQuota;
    if (!isCounted(quota)) this.#recount(entry.key);
  }

  #hasEnded({ type, entry, previous }: StoreEvent): boolean {
    if (type !== "MODIFIED" || this.#podPrefix === undefined || !entry.key.startsWith(this.#podPrefix)) return false;
    return entry.index.fields?.["status.phase"] !== previous?.index.fields?.["status.phase"];
  }

  /** Requests a count for a key such as `…/pods/<namespace>/<name>`. */
  #recount(key: Key): void {
    const nameAt = key.lastIndexOf("/");
    const namespaceAt = key.lastIndexOf("/", nameAt - 1) + 1;
    const stored = this.#parts.catalog.findPrefix(key.slice(0, namespaceAt));
    if (stored?.namespaced === true) this.#quotas.recount(key.slice(namespaceAt, nameAt));
  }
}
