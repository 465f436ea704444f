import { type StatusError, status, type TextError } from "../api/status.ts";

/** The groups that have a version at all. */
export interface KnownGroups {
  groups(): readonly { readonly group: string }[];
}

/**
 * The answer to a path that nobody serves. Upstream answers with a Status where a group is known and with a text
 * everywhere else, and clients tell "no such version" from "no such server" by it.
 */
export function unservedPath(path: string, known: KnownGroups): StatusError | TextError {
  const [, root, group = ""] = path.split("/");
  if (root === "api") return status.resourceNotServed();
  const isKnown = root === "apis" && group !== "" && known.groups().some((each) => each.group === group);
  return isKnown ? status.resourceNotServed() : status.pathNotFound();
}
