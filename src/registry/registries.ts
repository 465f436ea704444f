import type { GroupResource } from "../api/gvk.ts";
import type { GatedFields } from "../api/schema/gated-fields.ts";
import { type ResourceInfo, storedInfo } from "../api/scheme/resource.ts";
import type { FieldFilter } from "../apply/versions.ts";
import type { Clock } from "../process/clock.ts";
import type { CacherSet } from "../storage/cacher/cacher-set.ts";
import type { Store } from "../storage/store.ts";
import type { Admission } from "./admission.ts";
import type { Allocator } from "./allocator.ts";
import { type Catalog, type CatalogEntry, kindOfVersion } from "./catalog.ts";
import type { DeclarativeValidation } from "./declarative/declarative-validation.ts";
import { Gate } from "./gate.ts";
import { strategyOf } from "./kind.ts";
import type { RandomInt } from "./random-name.ts";
import { Registry } from "./registry.ts";
import type { StoreObserver } from "./store-observer.ts";
import type { WriteRule } from "./write-rule.ts";

/** A store, and the caches of its resources. */
export interface ResourceStorage {
  readonly store: Store;
  readonly cachers: CacherSet;
}

export interface RegistriesParts extends ResourceStorage {
  readonly catalog: Catalog;
  /** Returns the store and caches of a resource that is in another store; by default none is. */
  readonly storageOf?: ((info: ResourceInfo) => ResourceStorage | undefined) | undefined;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
  /** Admission chain of all writes. */
  readonly admission: Admission;
  /** Rules that types declare; by default with every feature gate on. */
  readonly declarative?: DeclarativeValidation | undefined;
  /** Fields behind disabled feature gates. */
  readonly gatedFields?: GatedFields | undefined;
  /** Selects the fields that writers through a path can own; undefined for all. By default writers own every field. */
  readonly ownedFieldsOf?:
    | ((info: ResourceInfo, subresource: string, hasStatus: boolean) => FieldFilter | undefined)
    | undefined;
  /** Returns the allocator of a resource; undefined for one that needs none. */
  readonly allocatorOf?: ((resource: GroupResource) => Allocator | undefined) | undefined;
  /** Returns the rule about writes that depends on other objects; undefined for a resource without one. */
  readonly writeRuleOf?: ((resource: GroupResource) => WriteRule | undefined) | undefined;
  /** Returns what measures the writes of a resource. */
  readonly observerOf?: ((resource: GroupResource) => StoreObserver) | undefined;
}

/**
 * One Registry for each stored kind of the catalog. All served versions of a built-in kind share it. Custom kinds have
 * one for each version, because rules and defaults belong to the version of the request.
 */
export class Registries {
  readonly #parts: RegistriesParts;
  readonly #byResource = new Map<ResourceInfo, Registry>();
  /** Registries by group, then by resource: each write looks up a dozen. */
  readonly #byGroup = new Map<string, Map<string, Registry>>();
  /** Delays creations until this server may admit them. */
  readonly creations = new Gate();

  constructor(parts: RegistriesParts) {
    this.#parts = parts;
    parts.catalog.follow(
      (entry) => this.#add(entry),
      (entry) => this.#remove(entry),
      (before, entry) => {
        this.#forget(before);
        this.#add(entry);
      },
    );
  }

  /**
   * Returns the registry of a resource.
   * @throws Error if it is not stored, which is our mistake: the caller has found `info` in the catalog
   */
  of(info: ResourceInfo | undefined): Registry {
    const registry = info === undefined ? undefined : this.#byResource.get(storedInfo(info));
    if (registry === undefined) throw new Error(`no registry for ${info?.resource ?? "a resource that is not served"}`);
    return registry;
  }

  /** Returns the registry of a kind that the server itself uses. It exists even if the kind is not served. */
  builtIn(resource: GroupResource): Registry {
    const registry = this.find(resource);
    if (registry === undefined) throw new Error(`no registry for ${resource.resource}`);
    return registry;
  }

  /** Returns the registry of a resource in any version; undefined if there is none. */
  find(resource: GroupResource): Registry | undefined {
    return this.#byGroup.get(resource.group)?.get(resource.resource);
  }

  /** Lists one registry for each kind. */
  all(): Iterable<Registry> {
    return [...this.#byGroup.values()].flatMap((registries) => [...registries.values()]);
  }

  #add(entry: CatalogEntry): void {
    const { stored, served } = entry;
    if (stored === undefined) return;
    for (const info of new Set([stored, ...served.map(storedInfo)])) {
      const registry = this.#open(entry, info, stored);
      this.#byResource.set(info, registry);
      if (info === stored) this.#groupOf(info).set(info.resource, registry);
    }
  }

  #groupOf({ group }: GroupResource): Map<string, Registry> {
    const registries = this.#byGroup.get(group) ?? new Map<string, Registry>();
    this.#byGroup.set(group, registries);
    return registries;
  }

  #open(entry: CatalogEntry, info: ResourceInfo, storage: ResourceInfo): Registry {
    const { allocatorOf, ownedFieldsOf } = this.#parts;
    const { store, cachers } = this.#storageOf(info);
    const { creations } = this;
    const strategy = strategyOf(kindOfVersion(entry, info));
    const hasStatus = strategy.resetFields.includes("status");
    const own = {
      strategy,
      allocator: allocatorOf?.(info),
      writeRule: this.#parts.writeRuleOf?.(info),
      observer: this.#parts.observerOf?.(info),
      store,
      cacher: cachers.cacher(info.keyPrefix),
      ownedFields: (subresource: string) => ownedFieldsOf?.(info, subresource, hasStatus),
    };
    return new Registry({ ...this.#parts, ...own, info, storage, versions: entry.served, creations });
  }

  /** Ends the watches of the kind. Its objects stay in the store. */
  #remove(entry: CatalogEntry): void {
    this.#forget(entry);
    if (entry.stored !== undefined) this.#storageOf(entry.stored).cachers.remove(entry.stored.keyPrefix);
  }

  #storageOf(info: ResourceInfo): ResourceStorage {
    return this.#parts.storageOf?.(info) ?? this.#parts;
  }

  #forget({ stored, served }: CatalogEntry): void {
    if (stored === undefined) return;
    for (const info of [stored, ...served.map(storedInfo)]) this.#byResource.delete(info);
    const registries = this.#groupOf(stored);
    registries.delete(stored.resource);
    if (registries.size === 0) this.#byGroup.delete(stored.group);
  }
}
