import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { StartupError } from "../config/startup-error.ts";
import { issueCertificate, type KeyPair, type LeafCertificate, type Validity } from "./authority.ts";
import { renewedAuthority } from "./certificates.ts";
import {
  belongTogether,
  isFresh,
  isSignedBy,
  keepPair,
  leafLifetimeMs,
  parseCertificate,
  readPair,
  validity,
  writePair,
} from "./kept-pair.ts";
import { writePrivateFile } from "./private-file.ts";

/**
 * By what the members of a cluster know each other. The authority signs members and nobody else, so that no certificate of
 * the API, whoever got one, opens the port of the peers. While one authority takes the place of another, both are trusted:
 *
 *     trusting   `next` is known to this member, and signs nothing yet
 *     using      it has become `authority`; members that still use the `former` one are trusted
 */
export interface PeerCertificates {
  readonly authority: KeyPair;
  readonly next: KeyPair | undefined;
  /** PEM. */
  readonly former: string | undefined;
  /** This member's own. */
  readonly member: KeyPair;
}

const authorityName = "quorate-peer-ca";
export const peerAuthorityFile = "peer-ca";
const nextFile = "peer-ca-next";
const formerFile = "peer-ca-former.crt";
const peerFile = "peer";
/** The founder of a cluster makes the authority; all others are given it. */
const founderId = 1;

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
 * @throws StartupError when a key file can be read by others or does not parse, and when a member has no authority
 */
export async function openPeerCertificates(options: PeerCertificateOptions): Promise<PeerCertificates> {
  const { directory, memberId, nowMs, current } = options;
  const authority = await keepPair({
    directory,
    name: peerAuthorityFile,
    current: current?.authority,
    isGood: (pair) => isFresh(pair, nowMs),
    make(previous) {
      if (previous !== undefined || directory === undefined || memberId === founderId) {
        return renewedAuthority(authorityName, previous, nowMs);
      }
      const remedy = "remove this member from the cluster, and let its machine join with an empty directory";
      throw new StartupError(`${directory} has no ${peerAuthorityFile}.key: the join was cut short: ${remedy}`);
    },
  });
  const name = peerCertificateName(memberId);
  const member = await keepPair({
    directory,
    name: peerFile,
    current: current?.member,
    isGood: (pair) => isFresh(pair, nowMs) && isSignedBy(pair, authority) && isNamed(pair, name),
    make: () => issueCertificate(authority, peerLeaf(memberId, nowMs)),
  });
  if (directory === undefined) return { authority, next: current?.next, former: current?.former, member };
  const next = await readPair({ directory, name: nextFile });
  const former = await readFile(join(directory, formerFile), "utf8").catch(() => undefined);
  return { authority, next: next !== undefined && belongTogether(next) ? next : undefined, former, member };
}

/** A new one, with a key of its own, to take the place of another. */
export function newPeerAuthority(nowMs: number): KeyPair {
  return renewedAuthority(authorityName, undefined, nowMs);
}

/** The three steps from one authority to another, on disk; each may be repeated after a crash. */
export const rotation = {
  async trust(directory: string, next: KeyPair): Promise<void> {
    await writePair({ directory, name: nextFile }, next);
  },
  async use(directory: string, { authority, next }: { authority: KeyPair; next: KeyPair }): Promise<void> {
    await writePrivateFile(join(directory, formerFile), authority.certificate);
    await writePair({ directory, name: peerAuthorityFile }, next);
    await removeNext(directory);
  },
  async drop(directory: string): Promise<void> {
    await rm(join(directory, formerFile), { force: true });
  },
};

async function removeNext(directory: string): Promise<void> {
  for (const ending of ["crt", "key"]) await rm(join(directory, `${nextFile}.${ending}`), { force: true });
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
