import { apiVersionOf, type GroupVersion, type GroupVersionKind } from "../api/gvk.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { compareVersions } from "../api/version-order.ts";
import type { Kind } from "./kind.ts";

/** A kind that this server serves. */
export interface CatalogEntry {
  readonly kind: Kind;
  /** Rules of versions that differ from `kind`. Absent if all versions follow `kind`. */
  readonly kinds?: ReadonlyMap<ResourceInfo, Kind>;
  /** Stored form of all versions, which may not itself be served. Undefined for kinds that are not stored. */
  readonly stored: ResourceInfo | undefined;
  /** Versions that clients see. */
  readonly served: readonly ResourceInfo[];
}

/** Returns the rules of one version of an entry. */
export function kindOfVersion({ kind, kinds }: CatalogEntry, info: ResourceInfo): Kind {
  return kinds?.get(info) ?? kind;
}

export interface CatalogGroup {
  /** Empty for the core group. */
  readonly group: string;
  /** Versions, the preferred one first. */
  readonly versions: readonly string[];
}

/** Returns the group versions of a catalog, in its order. */
export function groupVersionsOf(catalog: Pick<Catalog, "groups">): GroupVersion[] {
  return catalog.groups().flatMap(({ group, versions }) => versions.map((version) => ({ group, version })));
}

interface Follower {
  added(entry: CatalogEntry): void;
  removed(entry: CatalogEntry): void;
  /** Called when an entry replaces another; by default, `removed` and `added` are called. */
  replaced?(before: CatalogEntry, entry: CatalogEntry): void;
}

interface Listing {
  readonly groups: readonly CatalogGroup[];
  readonly resources: readonly ResourceInfo[];
  readonly byGroupVersion: ReadonlyMap<string, readonly ResourceInfo[]>;
}

/**
 * The kinds that the server has now. Kinds can be added and removed while it runs. A change is complete, with all its
 * consequences, before the call that makes it returns, so no request sees half of it.
 * Invariant: a resource, a kind and a key prefix each belong to one entry.
 */
export class Catalog {
  readonly #order: readonly CatalogGroup[];
  readonly #entries = new Set<CatalogEntry>();
  /** By the name of the resource, which groups and versions share, because making a longer key costs more. */
  readonly #byResource = new Map<string, readonly ResourceInfo[]>();
  readonly #byKind = new Map<string, ResourceInfo>();
  readonly #byPrefix = new Map<string, ResourceInfo>();
  readonly #followers: Follower[] = [];
  #listing: Listing | undefined;
  #generation = 0;

  /** @param order groups that are listed first, with the order of their versions */
  constructor(order: readonly CatalogGroup[] = []) {
    this.#order = order;
  }

  find(group: string, version: string, resource: string): ResourceInfo | undefined {
    const infos = this.#byResource.get(resource);
    if (infos === undefined) return undefined;
    for (let at = 0; at < infos.length; at++) {
      const info = infos[at] as ResourceInfo;
      if (info.group === group && info.version === version) return info;
    }
    return undefined;
  }

  /** Finds the resource whose objects have this kind. */
  findKind(gvk: GroupVersionKind): ResourceInfo | undefined {
    return this.#byKind.get(`${apiVersionOf(gvk)}/${gvk.kind}`);
  }

  /** Finds the stored form of the objects below a prefix such as `/registry/pods/`. */
  findPrefix(prefix: string): ResourceInfo | undefined {
    return this.#byPrefix.get(prefix);
  }

  /** Lists every served resource by group, then by version in order of preference, then by name. */
  all(): readonly ResourceInfo[] {
    return this.#list().resources;
  }

  /** Lists every group with a served resource, in the order in which clients look for a kind. */
  groups(): readonly CatalogGroup[] {
    return this.#list().groups;
  }

  /** Lists the resources of a group version; empty if it is not served. */
  resources(groupVersion: GroupVersion): readonly ResourceInfo[] {
    return this.#list().byGroupVersion.get(apiVersionOf(groupVersion)) ?? [];
  }

  /** Returns a number that changes whenever a kind is added or removed. */
  generation(): number {
    return this.#generation;
  }

  /** @throws Error for a resource, kind or prefix that belongs to another entry */
  add(entry: CatalogEntry): void {
    this.#refuseTaken(entry);
    this.#enter(entry);
    this.#changed();
    for (const follower of this.#followers) follower.added(entry);
  }

  /**
   * Replaces an entry by another of the same resource. Watches continue.
   * @throws Error for a resource or kind that belongs to a third entry
   */
  replace(before: CatalogEntry, entry: CatalogEntry): void {
    this.#leave(before);
    try {
      this.#refuseTaken(entry);
    } catch (error) {
      this.#enter(before);
      throw error;
    }
    this.#enter(entry);
    this.#changed();
    for (const follower of this.#followers) {
      if (follower.replaced !== undefined) {
        follower.replaced(before, entry);
        continue;
      }
      follower.removed(before);
      follower.added(entry);
    }
  }

  /** Removes an entry; does nothing if it is not in the catalog. */
  remove(entry: CatalogEntry): void {
    if (!this.#entries.has(entry)) return;
    this.#leave(entry);
    this.#changed();
    for (const follower of this.#followers.toReversed()) follower.removed(entry);
  }

  /**
   * Calls back for every present entry and each change. Earlier followers hear first of additions and last of removals.
   */
  follow(added: Follower["added"], removed: Follower["removed"], replaced?: Follower["replaced"]): Disposable {
    const follower: Follower = { added, removed, ...(replaced === undefined ? {} : { replaced }) };
    for (const entry of this.#entries) added(entry);
    this.#followers.push(follower);
    return {
      [Symbol.dispose]: () => {
        const at = this.#followers.indexOf(follower);
        if (at >= 0) this.#followers.splice(at, 1);
      },
    };
  }

  #enter(entry: CatalogEntry): void {
    this.#entries.add(entry);
    for (const info of entry.served) {
      this.#byResource.set(info.resource, [...(this.#byResource.get(info.resource) ?? []), info]);
      this.#byKind.set(kindKey(info), info);
    }
    if (entry.stored !== undefined) this.#byPrefix.set(entry.stored.keyPrefix, entry.stored);
  }

  #leave(entry: CatalogEntry): void {
    this.#entries.delete(entry);
    for (const info of entry.served) {
      const others = this.#byResource.get(info.resource)?.filter((other) => other !== info) ?? [];
      if (others.length > 0) this.#byResource.set(info.resource, others);
      else this.#byResource.delete(info.resource);
      this.#byKind.delete(kindKey(info));
    }
    if (entry.stored !== undefined) this.#byPrefix.delete(entry.stored.keyPrefix);
  }

  #refuseTaken({ stored, served }: CatalogEntry): void {
    for (const info of served) {
      const { group, version, resource } = info;
      const taken = this.find(group, version, resource) !== undefined || this.#byKind.has(kindKey(info));
      if (taken) throw new Error(`${group}/${version}/${resource} or its kind ${info.kind} is served already`);
    }
    if (stored !== undefined && this.#byPrefix.has(stored.keyPrefix)) {
      throw new Error(`the objects below ${stored.keyPrefix} belong to another kind`);
    }
  }

  #changed(): void {
    this.#generation++;
    this.#listing = undefined;
  }

  #list(): Listing {
    this.#listing ??= listingOf([...this.#byResource.values()].flat(), this.#order);
    return this.#listing;
  }
}

function kindKey(info: ResourceInfo): string {
  return `${apiVersionOf(info)}/${info.kind}`;
}

function listingOf(infos: Iterable<ResourceInfo>, order: readonly CatalogGroup[]): Listing {
  const byGroup = Map.groupBy(infos, ({ group }) => group);
  const first = order.map(({ group }) => group).filter((group) => byGroup.has(group));
  const others = [...byGroup.keys()].filter((group) => !first.includes(group)).sort();
  const groups = [...first, ...others].map((group) => {
    const served = new Set((byGroup.get(group) ?? []).map(({ version }) => version));
    const preferred = order.find((known) => known.group === group)?.versions.filter((version) => served.has(version));
    const rest = [...served].filter((version) => preferred?.includes(version) !== true).sort(compareVersions);
    return { group, versions: [...(preferred ?? []), ...rest] };
  });
  const sorted = groups.flatMap(({ group, versions }) =>
    versions.map((version) => {
      const resources = (byGroup.get(group) ?? []).filter((info) => info.version === version);
      resources.sort((a, b) => (a.resource < b.resource ? -1 : 1));
      return [apiVersionOf({ group, version }), resources] as const;
    }),
  );
  return { groups, resources: sorted.flatMap(([, resources]) => resources), byGroupVersion: new Map(sorted) };
}
