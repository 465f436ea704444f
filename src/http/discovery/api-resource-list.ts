import { apiVersionOf, type GroupVersion, type GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ResourceInfo, SubresourceInfo } from "../../api/scheme/resource.ts";

/** The APIResourceList of one group version: built-in resources and subresources by name, custom ones after their resource. */
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

/** Order by code unit, as Go compares. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Verbs are listed alphabetically. */
export function sortedVerbs(verbs: readonly string[]): string[] {
  return [...verbs].sort(compare);
}

/** Verbs that are left while the definition of a kind is being deleted. */
const lastVerbs: ReadonlySet<string> = new Set(["delete", "deletecollection", "get", "list", "watch"]);

/** The verbs of a resource; custom kinds list them in an order of their own. */
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

/** A kind of another group version than the list's says so: `deployments/scale` is an autoscaling/v1 Scale. */
function foreignGroupVersion({ gvk }: SubresourceInfo, parent: GroupVersionKind): JsonObject {
  if (gvk.group === parent.group && gvk.version === parent.version) return {};
  return { group: gvk.group, version: gvk.version };
}
