import type { ResourceInfo, SubresourceInfo } from "./resource.ts";

/** Returns the resource with kind and form of a subresource's body: `pods` with those of policy/v1 Eviction. */
export function bodyInfoOf(info: ResourceInfo, { gvk, form }: SubresourceInfo): ResourceInfo {
  return form === info.form ? info : { ...info, ...gvk, form, columns: [], table: undefined };
}
