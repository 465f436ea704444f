import type { MemberNumber } from "../../storage/cluster.ts";
import type { Gossip } from "./gossip.ts";

/**
 * Whom the others take for the leader, for a replica that knows of none in its `term` or later: the one that the highest
 * term names. Good for where to send a request first; only Raft says who leads.
 */
export function leaderHint(
  peers: ReturnType<Gossip["peers"]>,
  { self, term }: { readonly self: MemberNumber; readonly term: number },
): MemberNumber | undefined {
  let hint: { readonly leader: MemberNumber; readonly term: number } | undefined;
  for (const peer of peers.values()) {
    if (peer.isStale || peer.leader === undefined || peer.leader === self) continue;
    if (peer.term >= term && peer.term > (hint?.term ?? -1)) hint = { leader: peer.leader, term: peer.term };
  }
  return hint === undefined || peers.get(hint.leader)?.isStale === true ? undefined : hint.leader;
}
