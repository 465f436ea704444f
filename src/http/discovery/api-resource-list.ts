import { apiVersionOf, type GroupVersion, type GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ResourceInfo, SubresourceInfo } from "../../api/scheme/resource.ts";

/** Returns the APIResourceList of a group version: built-in resources by name, then custom ones with their subresources. */
export function apiResourceList(groupVersion: GroupVersion, resources: readonly ResourceInfo[]): JsonObject {
  const entriesOf = (info: ResourceInfo) => [resourceEntry(info), ...subresourceEntries(info)];
  const isBuiltIn = ({ form }: ResourceInfo) => form.kind === "struct";
  const entries = resources.filter(isBuiltIn).flatMap(entriesOf);
  const custom = resources.filter((info) => !isBuiltIn(info)).flatMap(entriesOf);
  return {
    kind: "APIResourceList",
    ...(groupVersion.group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: apiVersionOf(groupVersion),
    resources: [...entries.sort((a, b) => compare(a["name"] as string, b["name"] as string)), ...custom],
  };
}

/** Compares by code unit, as Go does. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Verbs in alphabetical order. */
export function sortedVerbs(verbs: readonly string[]): string[] {
  return [...verbs].sort(compare);
}

/** Verbs of a kind whose definition is being deleted. */
const lastVerbs: ReadonlySet<string> = new Set(["delete", "deletecollection", "get", "list", "watch"]);

/** Returns the verbs of a resource. Custom kinds list them in a different order. */
export function verbsOf({ verbs, form, isTerminating = false }: ResourceInfo): string[] {
  if (form.kind === "struct") return sortedVerbs(verbs);
  return verbs.filter((verb) => !isTerminating || lastVerbs.has(verb));
}

function resourceEntry(info: ResourceInfo): JsonObject {
  return {
    name: info.resource,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: verbsOf(info),
    ...(info.shortNames.length === 0 ? {} : { shortNames: [...info.shortNames] }),
    ...(info.categories.length === 0 ? {} : { categories: [...info.categories] }),
    ...(info.storageVersionHash === "" ? {} : { storageVersionHash: info.storageVersionHash }),
  };
}

function subresourceEntries(info: ResourceInfo): JsonObject[] {
  return [...info.subresources.values()].map((subresource) => ({
    name: `${info.resource}/${subresource.name}`,
    singularName: "",
    namespaced: info.namespaced,
    ...foreignGroupVersion(subresource, info),
    kind: subresource.gvk.kind,
    verbs: sortedVerbs(subresource.verbs),
  }));
}

/** Adds the group version of a kind that differs from the list's: `deployments/scale` is an autoscaling/v1 Scale. */
function foreignGroupVersion({ gvk }: SubresourceInfo, parent: GroupVersionKind): JsonObject {
  if (gvk.group === parent.group && gvk.version === parent.version) return {};
  return { group: gvk.group, version: gvk.version };
}
