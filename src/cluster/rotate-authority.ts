import { X509Certificate } from "node:crypto";
import { type CertificatePin, pinOf, pinsOf } from "../access/certificates/certificate-pin.ts";
import {
  type AuthorityKind,
  apiAuthority,
  newAuthority,
  peerAuthority,
  type RotationPhase,
  type RotationStep,
} from "../access/certificates/rotating-authority.ts";
import { type AuthorityStatus, parseAuthorityStatus, phases } from "./authority-status.ts";
import { type ClusterClient, ClusterRequestError } from "./cluster-client.ts";
import { clusterReport, type ClusterReport, type MemberReport } from "./cluster-report.ts";

interface Member extends AuthorityStatus {
  readonly report: MemberReport;
  readonly client: ClusterClient;
}

type OnProgress = (text: string) => void;

/** A member that joins meanwhile takes the step as well. */
const roundsMax = 5;
/** From the member that was asked to the leader, and on if it changes meanwhile. */
const hopsMax = 4;

/**
 * Gives the members another authority while they serve: all of them trust it first, then each uses it, then the former one is
 * trusted no more. When it was cut short, a second call goes on where the first one was.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before each step, when a member is not well or has missed one: it would be a stranger to the
 *   others
 */
export async function rotatePeerAuthority(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/peer-authority", onProgress);
  // Once one of them uses it, all have trusted it.
  if (!rotation.someAre("using") && !rotation.allTrustOne()) await rotation.trustNew(peerAuthority);
  await rotation.advance("trusting", "use", "uses the new authority");
  await rotation.advance("using", "drop", "trusts the former authority no more");
  return rotation.newest();
}

/**
 * Brings the API's new authority as far as nobody has to know it yet: all members trust it and publish it beside the one in
 * use, then it signs what clients get. All that clients have goes on working. A second call goes on where the first one was.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before each step, when a member is not well or has missed one
 */
export async function beginApiRotation(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/authority", onProgress);
  if (rotation.someAre("using")) {
    throw new ClusterRequestError("the former authority is being given up already: go on with --finish");
  }
  if (!rotation.someAre("issuing") && !rotation.allTrustOne()) await rotation.trustNew(apiAuthority);
  await rotation.advance("trusting", "issue", "gives clients certificates of the new authority");
  return rotation.newest();
}

/**
 * Puts the API's new authority in the place of the former one, which is trusted no more: who has not fetched the new one by
 * now knows the servers no more, and is not known by them. A second call goes on where the first one was.
 * @returns the hash of the authority that is the only one now
 * @throws ClusterRequestError, before each step, when a member is not well or has missed one, and before the first when we
 *   were locked out ourselves
 */
export async function finishApiRotation(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/authority", onProgress);
  if (rotation.someAre("trusting") && !rotation.someAre("using")) {
    throw new ClusterRequestError("not all members give out certificates of it yet: go on without --finish");
  }
  await rotation.requireNewCredentials();
  // It was as far as the others, and its directory was put back.
  await rotation.advance("trusting", "issue", "gives clients certificates of the new authority");
  await rotation.advance("issuing", "use", "is known by the new authority");
  await rotation.advance("using", "drop", "trusts the former authority no more");
  return rotation.newest();
}

/** The members, each on its way from one authority to another. */
class AuthorityRotation {
  readonly #client: ClusterClient;
  readonly #path: string;
  readonly #onProgress: OnProgress;
  /** Whom we ask for the members: the leader, once we know it. */
  #asked: { readonly id: number | undefined; readonly client: ClusterClient };
  /** By id: two who rotate at once come to the same one first. */
  #members: readonly Member[] = [];

  static async open(client: ClusterClient, path: string, onProgress: OnProgress): Promise<AuthorityRotation> {
    const rotation = new AuthorityRotation(client, path, onProgress);
    await rotation.#askAll();
    return rotation;
  }

  private constructor(client: ClusterClient, path: string, onProgress: OnProgress) {
    this.#client = client;
    this.#asked = { id: undefined, client };
    this.#path = path;
    this.#onProgress = onProgress;
  }

  someAre(phase: RotationPhase): boolean {
    return this.#members.some((member) => member.phase === phase);
  }

  /** A call that was cut short has come as far: there is no need for yet another authority. */
  allTrustOne(): boolean {
    return this.#members.every(({ phase, newest }) => phase === "trusting" && newest === this.#members[0]?.newest);
  }

  async trustNew(kind: AuthorityKind): Promise<void> {
    const authority = newAuthority(kind, Date.now());
    const hash = pinOf(authority.certificate);
    const first = new Map(this.#members.map(({ report, newest }) => [report.id, newest]));
    const isDue = ({ newest }: Member) => newest !== hash;
    // Of one that has joined meanwhile, what it has now.
    const stepOf = ({ report, newest }: Member): RotationStep => {
      return { step: "trust", authority, newest: first.get(report.id) ?? newest };
    };
    await this.#advance(isDue, () => stepOf, "trusts the new authority");
  }

  /** @throws ClusterRequestError also when the members do not have the same authority */
  advance(from: RotationPhase, step: "issue" | "use" | "drop", done: string): Promise<void> {
    const stepNow = () => {
      const newest = this.newest();
      return (): RotationStep => ({ step, newest });
    };
    return this.#advance(({ phase }) => phase === from, stepNow, done);
  }

  async #advance(
    isDue: (member: Member) => boolean,
    stepNow: () => (member: Member) => RotationStep,
    done: string,
  ): Promise<void> {
    for (let round = 1; this.#members.some(isDue); round++) {
      if (round > roundsMax) throw new ClusterRequestError("members keep coming: wait until they are there");
      const stepOf = stepNow();
      for (const member of this.#members.filter(isDue)) {
        await this.#tell(member, stepOf(member));
        this.#onProgress(`${nameOf(member)} ${done}`);
      }
      await this.#askAll();
    }
  }

  async #tell(member: Member, step: RotationStep): Promise<void> {
    try {
      await member.client.tell({ method: "POST", path: this.#path, body: step });
    } catch (error) {
      if (!(error instanceof ClusterRequestError) || error.code === undefined) throw error;
      throw new ClusterRequestError(`${nameOf(member)}: ${error.message}`);
    }
  }

  /** Which all of them have. @throws ClusterRequestError naming one that missed it, such as by a backup put back */
  newest(): CertificatePin {
    const hashes = [...new Set(this.#members.map(({ newest }) => newest))];
    // What most have; of two, what somebody has come furthest with.
    const weight = (hash: CertificatePin) => {
      const having = this.#members.filter(({ newest }) => newest === hash);
      return having.length * phases.length + Math.max(...having.map(({ phase }) => phases.indexOf(phase)));
    };
    const [hash = ""] = hashes.toSorted((a, b) => weight(b) - weight(a));
    const missed = this.#members.find(({ newest }) => newest !== hash);
    if (missed === undefined) return hash;
    throw new ClusterRequestError(
      `the members do not have the same authority: remove ${nameOf(missed)}, and let it join again with an empty directory`,
    );
  }

  /** Our own kubeconfig is one of those that have to be new. */
  async requireNewCredentials(): Promise<void> {
    const newest = this.newest();
    const { ca, cert } = await this.#client.tls();
    const former = this.#members.flatMap(({ trusted }) => trusted).filter((one) => pinOf(one) !== newest);
    const known = ca === undefined ? [] : pinsOf(String(ca));
    const isOld = known.length > 0 && !known.includes(newest) && former.some((one) => known.includes(pinOf(one)));
    if (!isOld && (cert === undefined || !isSignedByOneOf(former, String(cert)))) return;
    throw new ClusterRequestError(
      "this kubeconfig is of the former authority: fetch that of a member anew, here and everywhere, before you finish",
    );
  }

  async #askAll(): Promise<void> {
    const { members } = await this.#leaderReport();
    const unwell = members.find(({ health }) => health !== "ok" && health !== "behind");
    if (unwell !== undefined) {
      const why = unwell.problem ?? unwell.health;
      throw new ClusterRequestError(`member ${unwell.id} (${unwell.name}) has to be well, or removed, before: ${why}`);
    }
    this.#members = await Promise.all(
      members
        .toSorted((a, b) => a.id - b.id)
        .map(async (report) => {
          const client = this.#clientOf(report, members.length);
          return { report, client, ...parseAuthorityStatus(await client.get(this.#path)) };
        }),
    );
  }

  /** Another replica may not know of a member yet, which would be left behind. */
  async #leaderReport(): Promise<ClusterReport> {
    for (let hop = 0; hop < hopsMax; hop++) {
      const report = await clusterReport(this.#asked.client);
      const leading = report.members.find(({ id }) => id === report.leader);
      if (leading === undefined) break;
      if (leading.id === this.#asked.id) return report;
      this.#asked = { id: leading.id, client: this.#clientOf(leading, report.members.length) };
    }
    throw new ClusterRequestError("no member leads: wait until one does");
  }

  /** A replica that is alone may not know where others would reach it. */
  #clientOf({ clientUrl }: MemberReport, count: number): ClusterClient {
    return count === 1 ? this.#client : this.#client.at(clientUrl);
  }
}

function nameOf({ report }: Member): string {
  return `member ${report.id} (${report.name})`;
}

function isSignedByOneOf(authorities: readonly string[], certificate: string): boolean {
  const leaf = new X509Certificate(certificate);
  return authorities.some((one) => leaf.verify(new X509Certificate(one).publicKey));
}
