import type { GroupVersion, GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { DiscoveredResource, DiscoveredSubresource } from "../../client/aggregation/discovered-version.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";
import { compare, sortedVerbs, verbsOf } from "./api-resource-list.ts";
import type { MergedDiscovery } from "./merged-discovery.ts";

/** The answer repeats the parameters, because clients recognise the aggregated form by them. */
export const aggregatedMediaType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Returns the discovery of the given groups as one document. */
export function apiGroupDiscoveryList(groups: readonly CatalogGroup[], types: MergedDiscovery): JsonObject {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => groupDiscovery(group, types)),
  };
}

function groupDiscovery({ group, versions }: CatalogGroup, types: MergedDiscovery): JsonObject {
  return {
    metadata: group === "" ? {} : { name: group },
    versions: versions.map((version) => versionDiscovery({ group, version }, types)),
  };
}

function versionDiscovery(groupVersion: GroupVersion, types: MergedDiscovery): JsonObject {
  const { version } = groupVersion;
  const remote = types.remote(groupVersion);
  if (remote !== undefined) {
    const { resources, freshness } = remote;
    return { version, ...(resources.length === 0 ? {} : { resources: resources.map(remoteResource) }), freshness };
  }
  const resources = types.catalog.resources(groupVersion).toSorted((a, b) => compare(a.resource, b.resource));
  return { version, resources: resources.map(resourceDiscovery), freshness: "Current" };
}

function remoteResource(found: DiscoveredResource): JsonObject {
  const { resource, responseKind, scope, singularResource, verbs, shortNames, categories, subresources } = found;
  return {
    resource,
    responseKind: kindOf(responseKind),
    scope,
    singularResource,
    verbs: [...verbs],
    ...listed("shortNames", shortNames),
    ...listed("categories", categories),
    ...listed("subresources", subresources.map(remoteSubresource)),
  };
}

function remoteSubresource(found: DiscoveredSubresource): JsonObject {
  const { subresource, responseKind, acceptedTypes, verbs } = found;
  return {
    subresource,
    responseKind: kindOf(responseKind),
    ...listed("acceptedTypes", acceptedTypes.map(kindOf)),
    verbs: [...verbs],
  };
}

function listed(field: string, items: readonly JsonValue[]): JsonObject {
  return items.length === 0 ? {} : { [field]: [...items] };
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
    ...listed("shortNames", info.shortNames),
    ...listed("categories", info.categories),
    ...listed(
      "subresources",
      subresources.map(({ name, gvk, verbs }) => ({
        subresource: name,
        responseKind: kindOf(gvk),
        verbs: sortedVerbs(verbs),
      })),
    ),
  };
}

function kindOf({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}
