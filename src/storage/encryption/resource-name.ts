import type { GroupResource } from "../../api/gvk.ts";

/**
 * Parses the name of resources in an EncryptionConfiguration: `secrets`, `deployments.apps`, `*.apps` for a group, `*.`
 * for the core group, or `*.*`.
 */
export function parseResourceName(name: string): GroupResource {
  const dot = name.indexOf(".");
  return dot < 0 ? { resource: name, group: "" } : { resource: name.slice(0, dot), group: name.slice(dot + 1) };
}

export function resourceNameText({ resource, group }: GroupResource): string {
  if (group === "") return resource === "*" ? "*." : resource;
  return `${resource}.${group}`;
}
