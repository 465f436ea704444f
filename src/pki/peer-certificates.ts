import { issueCertificate, type KeyPair, type LeafCertificate, type Validity } from "./authority.ts";
import { renewedAuthority } from "./certificates.ts";
import { isFresh, isSignedBy, keepPair, leafLifetimeMs, parseCertificate, validity } from "./kept-pair.ts";

/**
 * By what the members of a cluster know each other. The authority signs members and nobody else, so that no certificate of
 * the API, whoever got one, opens the port of the peers.
 */
export interface PeerCertificates {
  readonly authority: KeyPair;
  /** This member's own. */
  readonly member: KeyPair;
}

const authorityName = "quorate-peer-ca";
export const peerAuthorityFile = "peer-ca";
export const peerFile = "peer";

export interface PeerCertificateOptions {
  /** Where the pairs are kept; undefined keeps them in memory. */
  readonly directory: string | undefined;
  readonly memberId: number;
  readonly nowMs: number;
  /** In memory: what is in use now, to be kept as far as it is good. */
  readonly current?: PeerCertificates;
}

/**
 * The pairs from `directory`; what is missing, past two thirds of its life or made for another member is made anew.
 * @throws StartupError when a key file can be read by others or does not parse
 */
export async function openPeerCertificates(options: PeerCertificateOptions): Promise<PeerCertificates> {
  const { directory, memberId, nowMs, current } = options;
  const authority = await keepPair({
    directory,
    name: peerAuthorityFile,
    current: current?.authority,
    isGood: (pair) => isFresh(pair, nowMs),
    make: (previous) => renewedAuthority(authorityName, previous, nowMs),
  });
  const name = peerCertificateName(memberId);
  const member = await keepPair({
    directory,
    name: peerFile,
    current: current?.member,
    isGood: (pair) => isFresh(pair, nowMs) && isSignedBy(pair, authority) && isNamed(pair, name),
    make: () => issueCertificate(authority, peerLeaf(memberId, nowMs)),
  });
  return { authority, member };
}

/** The DNS name in a member's certificate. */
function peerCertificateName(memberId: number): string {
  return `member-${memberId}`;
}

function peerLeaf(memberId: number, nowMs: number): LeafCertificate {
  const name = peerCertificateName(memberId);
  const lifetime: Validity = validity(nowMs, leafLifetimeMs);
  return { commonName: name, organizations: [], usage: "peer", dnsNames: [name], ipAddresses: [], ...lifetime };
}

function isNamed({ certificate }: KeyPair, name: string): boolean {
  return parseCertificate(certificate)?.checkHost(name) === name;
}
