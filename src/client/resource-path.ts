import type { GroupVersion } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ObjectName, ResourceType } from "./client.ts";

export type QueryParameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Returns the path of the discovery document of a group version, below which its resources are. */
export function groupVersionPath({ group, version }: GroupVersion): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Returns the path of a collection, or of one object in it. */
export function resourcePath(
  { group, version, resource }: ResourceType<KubeObject>,
  { namespace = "", name = "", subresource = "" }: Partial<ObjectName>,
): string {
  const root = groupVersionPath({ group, version });
  const scope = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  const object = name === "" ? "" : `/${encodeURIComponent(name)}`;
  return root + scope + `/${resource}` + object + (subresource === "" ? "" : `/${subresource}`);
}

/** Returns `?a=1&b=x` without undefined and empty values, or "" when nothing is left. */
export function queryText(parameters: QueryParameters): string {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return text === "" ? "" : `?${text}`;
}
