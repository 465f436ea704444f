import type { MemberNumber } from "../../storage/cluster.ts";
import type { Gossip } from "./gossip.ts";

/**
 * Returns the leader of the highest term that other members report, for a replica that knows no leader of its `term` or a
 * later one. It is only a hint where to send a request first; Raft alone decides who leads.
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
