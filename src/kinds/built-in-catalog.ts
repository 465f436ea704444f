import { type ResourceInfo, storedInfo } from "../api/scheme/resource.ts";
import { Catalog, type CatalogEntry } from "../registry/catalog.ts";
import { builtInKindOf } from "./index.ts";
import type { Scheme } from "./scheme.ts";

/** A catalog with the built-in kinds, in the versions that the scheme serves. */
export function builtInCatalog(scheme: Pick<Scheme, "groups" | "resources" | "stored">): Catalog {
  const catalog = new Catalog(scheme.groups());
  for (const entry of builtInEntries(scheme)) catalog.add(entry);
  return catalog;
}

function builtInEntries({ resources, stored }: Pick<Scheme, "resources" | "stored">): CatalogEntry[] {
  const versions = Map.groupBy(resources, storedInfo);
  const entryOf = (info: ResourceInfo): CatalogEntry => ({
    kind: builtInKindOf(info),
    stored: info.virtual ? undefined : info,
    served: versions.get(info) ?? [],
  });
  return [...stored, ...resources.filter(({ virtual }) => virtual)].map(entryOf);
}
