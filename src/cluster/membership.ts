import { isIP } from "node:net";
import { hostname } from "node:os";
import { StartupError } from "../process/startup-error.ts";
import { hostOf, type PeerAddress, parseClientUrl, parseMemberName, parsePeerAddress } from "./member-address.ts";

/** The options of this server as a member of a cluster. */
export interface MembershipOptions {
  readonly name: string;
  /** Whether the user chose the name. */
  readonly isNamed: boolean;
  /** The address that the others connect to; undefined for the recorded one, or none. */
  readonly peerAddress: PeerAddress | undefined;
  /** The URL of the API; undefined if it follows from the address and the server's port. */
  readonly clientUrl: string | undefined;
  readonly gossip: boolean;
  /** The gossip address; undefined if it follows from the peer address. */
  readonly gossipAddress: PeerAddress | undefined;
}

/** The flags that describe a member, as given. */
export interface MembershipFlags {
  readonly peerAddress?: string | undefined;
  readonly advertiseClientUrl?: string | undefined;
  readonly memberName?: string | undefined;
  readonly gossip?: boolean | undefined;
  readonly gossipAddress?: string | undefined;
}

const portMax = 65_535;
/** The offset from the peer port. It is large, so that members on one machine can have consecutive ports. */
export const gossipPortOffset = 1_000;

/** @throws StartupError that names the flag, the mistake and the remedy */
export function membershipOptionsOf(options: MembershipFlags, inMemory: boolean): MembershipOptions {
  const { peerAddress: address, advertiseClientUrl: url, memberName, gossip = true, gossipAddress } = options;
  if (inMemory && address !== undefined) {
    throw new StartupError("--peer-address: a member of a cluster keeps its data on disk: omit --in-memory");
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
 * Returns the gossip address of a member at `peerAddress`, or undefined when gossip is off.
 * @throws StartupError when the port beside that of `peerAddress` is out of range, or both are the same
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
    throw new StartupError("--gossip-address equals --peer-address: give another port");
  }
  return { host, port };
}

/** Returns the host to tell clients and members, or undefined for a server without a cluster. */
export function advertisedHost({ peerAddress, clientUrl }: MembershipOptions): string | undefined {
  return clientUrl === undefined ? peerAddress?.host : hostOf(clientUrl);
}

/** Returns the default listening address: the advertised address, or all addresses if a name is advertised. */
export function bindAddressOf(membership: MembershipOptions): string | undefined {
  const host = advertisedHost(membership);
  if (host === undefined) return undefined;
  return isIP(host) === 0 ? "0.0.0.0" : host;
}

/** Returns the API's URL of a member that listens on `port`. */
export function clientUrlOf(membership: MembershipOptions, port: number): string | undefined {
  const { clientUrl, peerAddress } = membership;
  if (clientUrl !== undefined || peerAddress === undefined) return clientUrl;
  const { host } = peerAddress;
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Returns the host's name if it is a valid member name. Otherwise the user has to choose one, but only for a cluster. */
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
