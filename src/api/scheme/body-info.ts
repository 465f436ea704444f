import type { ResourceInfo, SubresourceInfo } from "./resource.ts";

/** The resource with kind and schema of a subresource's body: `pods` with those of policy/v1 Eviction. */
export function bodyInfoOf(info: ResourceInfo, { gvk, schema }: SubresourceInfo): ResourceInfo {
  return schema === info.schema ? info : { ...info, ...gvk, schema, columns: [], table: undefined };
}
