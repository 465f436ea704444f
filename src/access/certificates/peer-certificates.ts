import { StartupError } from "../../process/startup-error.ts";
import { issueCertificate, type KeyPair, type LeafCertificate, type Validity } from "./authority.ts";
import { isFresh, isSignedBy, keepPair, leafLifetimeMs, parseCertificate, validity } from "./kept-pair.ts";
import { openAuthority, peerAuthority, type RotatingAuthority } from "./rotating-authority.ts";

/** The certificates with which members authenticate each other. */
export interface PeerCertificates extends RotatingAuthority {
  /** Pair of this member. */
  readonly member: KeyPair;
}

const peerFile = "peer";
/** The id of the founder, which creates the authority. All other members receive it. */
const founderId = 1;

export interface PeerCertificateOptions {
  /** Directory of the pairs; undefined keeps them in memory. */
  readonly directory: string | undefined;
  readonly memberId: number;
  readonly nowMs: number;
  /** The current certificates, if they are in memory. They are kept while they are good. */
  readonly current?: PeerCertificates | undefined;
}

/**
 * Opens the pairs from `directory`. Parts that are missing, past two thirds of their life or made for another member
 * are created.
 * @throws StartupError when a key file can be read by others or does not parse, and when a member has no authority
 */
export async function openPeerCertificates(options: PeerCertificateOptions): Promise<PeerCertificates> {
  const { directory, memberId, nowMs, current } = options;
  const rotating = await openAuthority({
    kind: peerAuthority,
    directory,
    nowMs,
    current,
    onMissing() {
      if (directory === undefined || memberId === founderId) return;
      const remedy = "remove this member from the cluster, and let its machine join with an empty directory";
      throw new StartupError(`${directory} has no ${peerAuthority.file}.key: the join was cut short: ${remedy}`);
    },
  });
  const { authority } = rotating;
  const name = peerCertificateName(memberId);
  const member = await keepPair({
    directory,
    name: peerFile,
    current: current?.member,
    isGood: (pair) => isFresh(pair, nowMs) && isSignedBy(pair, authority) && isNamed(pair, name),
    make: () => issueCertificate(authority, peerLeaf(memberId, nowMs)),
  });
  return { ...rotating, member };
}

/** Returns the DNS name in a member's certificate. */
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
