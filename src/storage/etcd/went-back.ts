import type { Revision } from "../../api/revision.ts";

const cause =
  "it was restored from a snapshot or its data was replaced. Restart this server, and the clients that watch it";

/** Returns the message about an etcd that has lost revisions. */
export function wentBack(known: Revision, found: Revision): string {
  return `etcd went back from revision ${known} to ${found}: ${cause}`;
}

/** Returns the message about another cluster at the same address. */
export function replaced(known: string, found: string): string {
  return `etcd is cluster ${found} and was cluster ${known}: ${cause}`;
}
