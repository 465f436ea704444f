import { hostname } from "node:os";
import { isIP } from "node:net";
import { hostOf, type PeerAddress, parseClientUrl, parseMemberName, parsePeerAddress } from "./member-address.ts";
import { StartupError } from "../process/startup-error.ts";

/** How this server is a member of a cluster. */
export interface MembershipOptions {
  readonly name: string;
  /** Whether the name was given, or is only what to be called by when there is no other. */
  readonly isNamed: boolean;
  /** What the others connect to. Undefined: as it was recorded, or none. */
  readonly peerAddress: PeerAddress | undefined;
  /** Of the API. Undefined: it follows from the address and the port that the server gets. */
  readonly clientUrl: string | undefined;
  readonly gossip: boolean;
  /** Undefined: beside the peer address. */
  readonly gossipAddress: PeerAddress | undefined;
}

/** The flags that describe a member, as they were given. */
export interface MembershipFlags {
  readonly peerAddress?: string | undefined;
  readonly advertiseClientUrl?: string | undefined;
  readonly memberName?: string | undefined;
  readonly gossip?: boolean | undefined;
  readonly gossipAddress?: string | undefined;
}

const portMax = 65_535;
/** Far enough for members that share a machine and have ports in a row. */
const gossipPortOffset = 1_000;

/** @throws StartupError naming the flag, what is wrong and what to do */
export function membershipOptionsOf(options: MembershipFlags, inMemory: boolean): MembershipOptions {
  const { peerAddress: address, advertiseClientUrl: url, memberName, gossip = true, gossipAddress } = options;
  if (inMemory && address !== undefined) {
    throw new StartupError("--peer-address: a member of a cluster keeps its data on disk: leave --in-memory out");
  }
  if (gossipAddress !== undefined && (address === undefined || !gossip)) {
    throw new StartupError(
      `--gossip-address is for members of a cluster: ${gossip ? "give --peer-address too" : "leave --gossip=false out"}`,
    );
  }
  const peerAddress = address === undefined ? undefined : named("--peer-address", () => parsePeerAddress(address));
  if (url !== undefined && address === undefined) {
    throw new StartupError("--advertise-client-url is for members of a cluster: give --peer-address too");
  }
  const membership: MembershipOptions = {
    isNamed: memberName !== undefined,
    name: memberName === undefined ? hostName() : named("--member-name", () => parseMemberName(memberName)),
    peerAddress,
    clientUrl: url === undefined ? undefined : named("--advertise-client-url", () => parseClientUrl(url)),
    gossip,
    gossipAddress:
      gossipAddress === undefined ? undefined : named("--gossip-address", () => parsePeerAddress(gossipAddress)),
  };
  if (peerAddress !== undefined) gossipAddressOf(membership, peerAddress);
  return membership;
}

/**
 * Where a member that the others reach at `peerAddress` is reached for gossip; undefined when that is off.
 * @throws StartupError when there is no port beside that of `peerAddress`, or it is the same
 */
export function gossipAddressOf(
  { gossip, gossipAddress }: MembershipOptions,
  peerAddress: PeerAddress,
): PeerAddress | undefined {
  if (!gossip) return undefined;
  const { host, port } = gossipAddress ?? { host: peerAddress.host, port: peerAddress.port + gossipPortOffset };
  if (port > portMax)
    throw new StartupError(
      `--gossip-address: there is no port ${gossipPortOffset} above that of --peer-address: give one`,
    );
  if (host === peerAddress.host && port === peerAddress.port) {
    throw new StartupError("--gossip-address is that of --peer-address: give another port");
  }
  return { host, port };
}

/** The host that clients and members are told; undefined for a server that is alone. */
export function advertisedHost({ peerAddress, clientUrl }: MembershipOptions): string | undefined {
  return clientUrl === undefined ? peerAddress?.host : hostOf(clientUrl);
}

/** What a member listens on unless told: the address that it tells others, or all when it tells a name. */
export function bindAddressOf(membership: MembershipOptions): string | undefined {
  const host = advertisedHost(membership);
  if (host === undefined) return undefined;
  return isIP(host) === 0 ? "0.0.0.0" : host;
}

/** Where the API of a member is that listens on `port`. */
export function clientUrlOf(membership: MembershipOptions, port: number): string | undefined {
  const { clientUrl, peerAddress } = membership;
  if (clientUrl !== undefined || peerAddress === undefined) return clientUrl;
  const { host } = peerAddress;
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** A host may be called what no member may be: then its user has to choose, but only where it matters. */
function hostName(): string {
  const name = hostname().toLowerCase();
  try {
    return parseMemberName(name);
  } catch {
    return "quorate";
  }
}

function named<T>(flag: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartupError(`${flag}: ${(error as Error).message}`);
  }
}
