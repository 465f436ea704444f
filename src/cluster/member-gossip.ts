import { join } from "node:path";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import { StartupError } from "../process/startup-error.ts";
import { type Gossip, noGossip, type ReplicaHealth } from "./gossip/gossip.ts";
import { openGossipIdentity } from "./gossip/gossip-identity.ts";
import type { DropReason } from "./gossip/network.ts";
import { openGossip } from "./gossip/open-gossip.ts";
import { peerAddressText } from "./member-address.ts";
import { gossipAddressOf, type MembershipOptions } from "./membership.ts";
import type { GossipContact, OpenMember } from "./open-member.ts";

export interface MemberGossipParts {
  readonly member: Pick<OpenMember, "cluster" | "directory" | "peerAddress" | "onLeaderChanged">;
  readonly membership: MembershipOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the names of the failing checks of `/readyz`. */
  readonly failing: () => Promise<readonly string[]>;
  /** Version of this program. */
  readonly release: string;
  readonly onDropped: (reason: DropReason) => void;
}

export interface MemberGossip {
  readonly gossip: Gossip;
  /** The contact for this member's record; undefined if gossip is off. */
  readonly contact: GossipContact | undefined;
}

/**
 * Opens a member's gossip. It is off for a single replica, if disabled, and if its default port is taken, because gossip
 * is only hints.
 * @throws StartupError if the configured address cannot be listened on, or the key cannot be read
 */
export async function openMemberGossip(parts: MemberGossipParts): Promise<MemberGossip> {
  const { member, membership, clock, log, onDropped } = parts;
  const { cluster, directory, peerAddress } = member;
  const listen = peerAddress === undefined ? undefined : gossipAddressOf(membership, peerAddress);
  if (listen === undefined) return { gossip: noGossip, contact: undefined };
  const identity = await openGossipIdentity(join(directory, "pki"), clock.nowMs());
  try {
    const gossip = await openGossip({
      clusterId: cluster.clusterId,
      self: cluster.self,
      identity,
      listen,
      members: () => cluster.members(),
      health: () => healthOf(parts),
      clock,
      onError: (error) => log.warn("gossip failed", { error }),
      onDropped,
    });
    member.onLeaderChanged(() => gossip.announce());
    return { gossip, contact: { peerId: identity.peerId, gossipAddress: peerAddressText(listen) } };
  } catch (error) {
    if (membership.gossipAddress !== undefined || !(error instanceof StartupError)) throw error;
    log.warn(`${error.message}; gossip is off: give another --gossip-address`);
    return { gossip: noGossip, contact: undefined };
  }
}

async function healthOf({ member: { cluster }, failing, release }: MemberGossipParts): Promise<ReplicaHealth> {
  const names = await failing();
  const { revision, appliedIndex, term, leader, members, self } = cluster.status();
  const url = members.find(({ id }) => id === self)?.clientUrl ?? "";
  return {
    revision,
    appliedIndex,
    term,
    leader,
    ready: names.length === 0,
    failing: names,
    endpoints: url === "" ? [] : [url],
    release,
  };
}
