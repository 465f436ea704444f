import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { Scheme } from "../../api/scheme/scheme.ts";
import type { Catalog } from "./catalog.ts";

/** The built-in types, which do not change while the server runs; of them what somebody answers for. */
export function schemeCatalog(
  scheme: Scheme,
  isServed: (info: ResourceInfo, subresource: string) => boolean = () => true,
): Catalog {
  const served = scheme.resources
    .filter((info) => isServed(info, ""))
    .map((info) => withoutSubresources(info, (subresource) => !isServed(info, subresource)));
  const byGroupVersion = Map.groupBy(served, ({ group, version }) => `${group}/${version}`);
  const groups = scheme.groups().flatMap(({ group, versions }) => {
    const left = versions.filter((version) => byGroupVersion.has(`${group}/${version}`));
    return left.length === 0 ? [] : [{ group, versions: left }];
  });
  return {
    groups: () => groups,
    resources: ({ group, version }) => byGroupVersion.get(`${group}/${version}`) ?? [],
    generation: () => 0,
  };
}

function withoutSubresources(info: ResourceInfo, isOut: (subresource: string) => boolean): ResourceInfo {
  const subresources = new Map([...info.subresources].filter(([name]) => !isOut(name)));
  return subresources.size === info.subresources.size ? info : { ...info, subresources };
}
