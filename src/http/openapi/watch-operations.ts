import { groupVersionPath } from "../../client/resource-path.ts";
import { listParameters, type Operation, type Scope } from "./operation.ts";

/** Returns the operations at the paths below `watch/`, which old clients still use. */
export function watchOperations({ info, group, tag, typeOf }: Scope): Operation[] {
  if (!info.verbs.includes("watch")) return [];
  const root = `${groupVersionPath(info)}/watch`;
  const place = info.namespaced ? "/namespaces/{namespace}" : "";
  const common = {
    method: "get",
    tag,
    gvk: info,
    queryParameters: listParameters,
    body: undefined,
    isBuiltIn: true,
    response: typeOf("meta/v1.WatchEvent"),
    description: `watch objects of kind ${info.kind}; a list with the parameter watch does the same`,
  } as const;
  const kind = `${info.namespaced ? "Namespaced" : ""}${info.kind}`;
  const list = { ...common, action: "watchlist" } as const;
  return [
    { ...list, path: `${root}${place}/${info.resource}`, id: `watch${group}${kind}List` },
    { ...common, action: "watch", path: `${root}${place}/${info.resource}/{name}`, id: `watch${group}${kind}` },
    ...(info.namespaced
      ? [{ ...list, path: `${root}/${info.resource}`, id: `watch${group}${info.kind}ListForAllNamespaces` }]
      : []),
  ];
}
