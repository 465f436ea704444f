import { apiVersionOf, type GroupVersion } from "../../api/gvk.ts";
import type { DiscoveredVersion } from "../../client/aggregation/discovered-version.ts";
import { allApis, type ServedApi, type ServedApis } from "../../kinds/apiregistration/api-services.ts";
import { apiServiceNameOf } from "../../kinds/apiregistration/automatic-api-service.ts";
import { builtInPriority, customPriority, type GroupPriority } from "../../kinds/apiregistration/group-priorities.ts";
import { type CatalogGroup, groupVersionsOf } from "../../registry/catalog.ts";
import { orderedGroups, type RankedVersion } from "./ordered-groups.ts";
import type { ServedTypes } from "./served-types.ts";

/** The group of APIServices itself, which has no APIService and comes first. */
const aggregationGroup = "apiregistration.k8s.io";
const first: GroupPriority = { group: 20_001, version: 0 };

export interface DiscoverySource {
  /** The types of this server. */
  readonly catalog: ServedTypes;
  readonly apis: Pick<ServedApis, "groups" | "generation">;
  /** The types of extension servers. */
  readonly remote: RemoteTypes;
}

export interface RemoteTypes {
  versions(): readonly DiscoveredVersion[];
  /** A number that changes with the versions. */
  generation(): number;
}

interface Merged {
  readonly listed: readonly CatalogGroup[];
  readonly described: readonly CatalogGroup[];
  readonly remote: ReadonlyMap<string, DiscoveredVersion>;
}

/** The types of this server and of all extension servers, in the order of discovery. */
export class MergedDiscovery {
  readonly #source: DiscoverySource;
  #generation = "";
  #merged: Merged = { listed: [], described: [], remote: new Map() };

  constructor(source: DiscoverySource) {
    this.#source = source;
  }

  get catalog(): ServedTypes {
    return this.#source.catalog;
  }

  /** Returns a text that changes with the results of the others. */
  generation(): string {
    const { catalog, apis, remote } = this.#source;
    return `${catalog.generation()} ${apis.generation()} ${remote.generation()}`;
  }

  /** Lists the groups of `/apis`: those with an APIService, available or not, and those of this server. */
  listed(): readonly CatalogGroup[] {
    return this.#current().listed;
  }

  /** Lists the groups of the aggregated form: those whose resources are known or could not be read. */
  described(): readonly CatalogGroup[] {
    return this.#current().described;
  }

  /** Returns the group version if an extension server serves it. */
  remote(groupVersion: GroupVersion): DiscoveredVersion | undefined {
    return this.#current().remote.get(apiVersionOf(groupVersion));
  }

  #current(): Merged {
    const generation = this.generation();
    if (generation !== this.#generation) this.#merged = this.#merge();
    this.#generation = generation;
    return this.#merged;
  }

  #merge(): Merged {
    const { catalog, apis } = this.#source;
    const local = groupVersionsOf(catalog).map(rankedLocal);
    const registered = allApis(apis).map(rankedApi);
    const known = this.#source.remote.versions().filter(({ freshness }) => freshness !== "Pending");
    const remote = new Map(known.map((version) => [apiVersionOf(version), version]));
    const rankedRemote = registered.filter((version) => remote.has(apiVersionOf(version)));
    return {
      listed: orderedGroups(unique(registered, local), apiServiceNameOf),
      described: orderedGroups(unique(rankedRemote, local), ({ group }) => group),
      remote,
    };
  }
}

function rankedLocal(groupVersion: GroupVersion): RankedVersion {
  if (groupVersion.group === aggregationGroup) return { ...groupVersion, priority: first };
  return { ...groupVersion, priority: builtInPriority(groupVersion) ?? customPriority };
}

function rankedApi({ group, version, apiService: { spec } }: ServedApi): RankedVersion {
  return {
    group,
    version,
    priority: { group: spec?.groupPriorityMinimum ?? 0, version: spec?.versionPriority ?? 0 },
  };
}

/** Joins both lists. Of two entries for the same group version, keeps that of the first list. */
function unique(some: readonly RankedVersion[], others: readonly RankedVersion[]): RankedVersion[] {
  const taken = new Set(some.map(apiVersionOf));
  return [...some, ...others.filter((version) => !taken.has(apiVersionOf(version)))];
}
