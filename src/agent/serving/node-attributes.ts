import type { ResourceAttributes } from "../../access/authorization/attributes.ts";
import type { RequestTarget } from "./request-target.ts";

/** Subresources of a node by the first segment of a path. The first one that is allowed grants access. */
const subresourcesByRoot: ReadonlyMap<string, readonly string[]> = new Map([
  ["stats", ["stats"]],
  ["metrics", ["metrics"]],
  ["logs", ["log"]],
  ["checkpoint", ["checkpoint"]],
  ["statusz", ["statusz"]],
  ["flagz", ["configz"]],
  ["pods", ["pods", "proxy"]],
  ["runningpods", ["pods", "proxy"]],
  ["healthz", ["healthz", "proxy"]],
  ["configz", ["configz", "proxy"]],
]);

const verbs: ReadonlyMap<string, string> = new Map([
  ["GET", "get"],
  ["HEAD", "get"],
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

/** Returns the permissions on the node of which a request needs one, in the order in which they are tried. */
export function nodeAttributes(
  method: string,
  { segments }: RequestTarget,
  nodeName: string,
): readonly ResourceAttributes[] {
  const subresources = subresourcesByRoot.get(segments[0] ?? "") ?? ["proxy"];
  return subresources.map((subresource) => ({
    kind: "resource",
    verb: verbs.get(method) ?? "",
    group: "",
    version: "v1",
    resource: "nodes",
    subresource,
    namespace: "",
    name: nodeName,
  }));
}
