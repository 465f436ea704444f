import { type StatusError, status, type TextError } from "../api/status.ts";

/** The groups that have any version. */
export interface KnownGroups {
  groups(): readonly { readonly group: string }[];
}

/**
 * Returns the answer to a path that is not served. As upstream's, it is a Status if the group is known and a text
 * otherwise, by which clients tell "no such version" from "no such server".
 */
export function unservedPath(path: string, known: KnownGroups): StatusError | TextError {
  const [, root, group = ""] = path.split("/");
  if (root === "api") return status.resourceNotServed();
  const isKnown = root === "apis" && group !== "" && known.groups().some((each) => each.group === group);
  return isKnown ? status.resourceNotServed() : status.pathNotFound();
}
