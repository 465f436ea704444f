import type { GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";
import { compare, sortedVerbs, verbsOf } from "./api-resource-list.ts";
import type { ServedTypes } from "./served-types.ts";

/** The answer repeats the parameters, because clients recognise the aggregated form by them. */
export const aggregatedMediaType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Returns the discovery of the given groups as one document. */
export function apiGroupDiscoveryList(groups: readonly CatalogGroup[], catalog: ServedTypes): JsonObject {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => groupDiscovery(group, catalog)),
  };
}

function groupDiscovery({ group, versions }: CatalogGroup, catalog: ServedTypes): JsonObject {
  return {
    metadata: group === "" ? {} : { name: group },
    versions: versions.map((version) => ({
      version,
      resources: [...catalog.resources({ group, version })]
        .sort((a, b) => compare(a.resource, b.resource))
        .map(resourceDiscovery),
      freshness: "Current",
    })),
  };
}

function resourceDiscovery(info: ResourceInfo): JsonObject {
  const subresources = [...info.subresources.values()];
  if (info.form.kind === "struct") subresources.sort((a, b) => compare(a.name, b.name));
  return {
    resource: info.resource,
    responseKind: kindOf(info),
    scope: info.namespaced ? "Namespaced" : "Cluster",
    singularResource: info.singular,
    verbs: verbsOf(info),
    ...(info.shortNames.length === 0 ? {} : { shortNames: [...info.shortNames] }),
    ...(info.categories.length === 0 ? {} : { categories: [...info.categories] }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map(({ name, gvk, verbs }) => ({
            subresource: name,
            responseKind: kindOf(gvk),
            verbs: sortedVerbs(verbs),
          })),
        }),
  };
}

function kindOf({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}
