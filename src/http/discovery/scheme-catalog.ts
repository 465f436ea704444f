import type { Scheme } from "../../api/scheme/scheme.ts";
import type { Catalog } from "./catalog.ts";

/** The built-in types, which do not change while the server runs. */
export function schemeCatalog(scheme: Scheme): Catalog {
  const byGroupVersion = Map.groupBy(scheme.resources, ({ group, version }) => `${group}/${version}`);
  const groups = scheme.groups();
  return {
    groups: () => groups,
    resources: ({ group, version }) => byGroupVersion.get(`${group}/${version}`) ?? [],
    generation: () => 0,
  };
}
