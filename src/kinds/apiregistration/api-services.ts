import { compareTexts } from "../../api/code-points.ts";
import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { GroupVersion } from "../../api/gvk.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import { compareVersions } from "../../api/version-order.ts";
import { type RemoteApi, remoteApiOf } from "../../client/aggregation/remote-api.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import { apiServiceNameOf } from "./automatic-api-service.ts";
import { availableCondition } from "./available-condition.ts";

/** A group version, as its APIService describes it. */
export interface ServedApi extends GroupVersion {
  readonly apiService: APIService;
  /** The service that serves it; undefined for this server. */
  readonly remote: RemoteApi | undefined;
  /** Whether its Available condition is True. */
  readonly isAvailable: boolean;
}

/** A group version that a service serves. */
export interface RemoteServedApi extends ServedApi {
  readonly remote: RemoteApi;
}

export interface ServedGroup {
  readonly group: string;
  /** Versions, the preferred one first; never empty. */
  readonly versions: readonly ServedApi[];
}

/** The group versions that APIServices describe. */
export interface ServedApis {
  /** Returns the APIService of a group version; undefined if there is none. */
  find(group: string, version: string): ServedApi | undefined;
  /** Reports whether services serve any group version. */
  hasRemotes(): boolean;
  /** Returns the groups in the order of discovery, except the group of APIServices, which has no APIService. */
  groups(): readonly ServedGroup[];
  /** Returns a number that changes with the results of the others. */
  generation(): number;
  /** Calls `run` after changes, in the turn in which they become visible. It must not throw or wait. */
  follow(run: () => void): Disposable;
}

/** Returns all group versions in the order of discovery. */
export function allApis(apis: Pick<ServedApis, "groups">): ServedApi[] {
  return apis.groups().flatMap(({ versions }) => versions);
}

/** Returns the group versions that services serve, in the order of discovery. */
export function remoteApis(apis: Pick<ServedApis, "groups">): RemoteServedApi[] {
  return allApis(apis).filter((api): api is RemoteServedApi => api.remote !== undefined);
}

interface Listing {
  readonly byName: ReadonlyMap<string, ServedApi>;
  readonly groups: readonly ServedGroup[];
  readonly hasRemotes: boolean;
}

/**
 * The stored APIServices. They are read from the cache of their kind, which changes in the turn in which a replica
 * applies a write. Without changes, a query costs one comparison.
 */
export class ApiServices implements ServedApis {
  readonly #registry: Registry;
  readonly #store: Store;
  #generation: number | undefined;
  #listing: Listing = listingOf([]);
  /** Decoded objects of the last listing. An entry never changes. */
  #decoded = new Map<Entry, ServedApi>();

  /** @param registry of APIServices */
  constructor(registry: Registry, store: Store) {
    this.#registry = registry;
    this.#store = store;
  }

  find(group: string, version: string): ServedApi | undefined {
    return this.#list().byName.get(apiServiceNameOf({ group, version }));
  }

  hasRemotes(): boolean {
    return this.#list().hasRemotes;
  }

  groups(): readonly ServedGroup[] {
    return this.#list().groups;
  }

  generation(): number {
    return this.#registry.cacher.changed;
  }

  follow(run: () => void): Disposable {
    const { keyPrefix } = this.#registry.info;
    return this.#store.subscribe((events, _revision, jumped) => {
      if (jumped || events.some(({ entry }) => entry.key.startsWith(keyPrefix))) run();
    });
  }

  #list(): Listing {
    const generation = this.generation();
    if (generation === this.#generation) return this.#listing;
    const { cacher, info } = this.#registry;
    const decoded = new Map(
      cacher
        .entries()
        .map((entry) => [entry, this.#decoded.get(entry) ?? servedApiOf(decodeEntry(entry, info) as APIService)]),
    );
    this.#decoded = decoded;
    this.#listing = listingOf([...decoded.values()]);
    this.#generation = generation;
    return this.#listing;
  }
}

function servedApiOf(apiService: APIService): ServedApi {
  const { spec } = apiService;
  const { group = "", version = "" } = spec ?? {};
  const remote = spec === undefined ? undefined : remoteApiOf(spec);
  return { apiService, group, version, remote, isAvailable: availableCondition(apiService)?.status === "True" };
}

function listingOf(apis: readonly ServedApi[]): Listing {
  const byName = new Map(apis.map((api) => [apiServiceNameOf(api), api]));
  const sorted = apis.toSorted(
    (a, b) =>
      (b.apiService.spec?.groupPriorityMinimum ?? 0) - (a.apiService.spec?.groupPriorityMinimum ?? 0) ||
      compareTexts(nameOf(a), nameOf(b)),
  );
  const groups = [...Map.groupBy(sorted, ({ group }) => group)].map(([group, versions]) => ({
    group,
    versions: versions.toSorted(
      (a, b) =>
        (b.apiService.spec?.versionPriority ?? 0) - (a.apiService.spec?.versionPriority ?? 0) ||
        compareVersions(a.version, b.version),
    ),
  }));
  return { byName, groups, hasRemotes: apis.some(({ remote }) => remote !== undefined) };
}

function nameOf({ apiService: { metadata } }: ServedApi): string {
  return metadata.name ?? "";
}
