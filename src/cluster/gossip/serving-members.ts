import type { MemberNumber } from "../../storage/cluster.ts";
import type { Gossip } from "./gossip.ts";

/**
 * Returns the members that clients may be sent to: all except members that reported not to be ready or went silent. A
 * member that was never heard from counts, so all members count if gossip is off. This replica counts because it answers.
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
