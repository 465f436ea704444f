import type { MemberNumber } from "../../storage/cluster.ts";
import type { Gossip } from "./gossip.ts";

/**
 * The members that clients may be sent to: all but those that were heard to be not ready, or went silent. Of whom nothing
 * was heard nothing is known, so where gossip is off these are all; and this replica is one, as it is the one that answers.
 */
export function servingMembers<Member extends { readonly id: MemberNumber }>(
  members: readonly Member[],
  peers: ReturnType<Gossip["peers"]>,
  self: MemberNumber,
): Member[] {
  return members.filter(({ id }) => {
    const peer = peers.get(id);
    return id === self || peer === undefined || (peer.ready && !peer.isStale);
  });
}
