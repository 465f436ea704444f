import type { Registries } from "../../registry/registries.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import type { CollectionSize } from "./work-estimate.ts";

/** Returns the number and average size of the stored objects of a resource; undefined for one that is not stored. */
export function collectionSize(
  registries: Pick<Registries, "find">,
  { group, resource }: ResourceRequest,
): CollectionSize | undefined {
  const cacher = registries.find({ group, resource })?.cacher;
  if (cacher === undefined) return undefined;
  return { objects: cacher.size, averageBytes: cacher.size === 0 ? 0 : cacher.bodyBytes / cacher.size };
}
