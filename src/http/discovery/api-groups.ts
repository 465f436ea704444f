import { apiVersionOf } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";

/** Returns the document at `/api`, the versions of the core group. `serverAddress` is host and port for clients. */
export function apiVersions(versions: readonly string[], serverAddress: string): JsonObject {
  return {
    kind: "APIVersions",
    versions: [...versions],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

/** Returns the document at `/apis`, every named group. */
export function apiGroupList(groups: readonly CatalogGroup[]): JsonObject {
  const named = groups.filter(({ group }) => group !== "");
  return { kind: "APIGroupList", apiVersion: "v1", groups: named.map(groupEntry) };
}

/** Returns the document at `/apis/<group>`. */
export function apiGroup(group: CatalogGroup): JsonObject {
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) };
}

function groupEntry({ group, versions }: CatalogGroup): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: apiVersionOf({ group, version }), version }));
  return { name: group, versions: entries, preferredVersion: { ...(entries[0] as (typeof entries)[0]) } };
}
