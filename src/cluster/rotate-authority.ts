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
import { type ClusterReport, clusterReport, type MemberReport } from "./cluster-report.ts";

interface Member extends AuthorityStatus {
  readonly report: MemberReport;
  readonly client: ClusterClient;
}

type OnProgress = (text: string) => void;

/** Maximum number of rounds per step. A member that joins meanwhile takes the step as well. */
const roundsMax = 5;
/** Maximum number of hops from the asked member to the leader, if that changes meanwhile. */
const hopsMax = 4;

/**
 * Replaces the members' authority without downtime: all members trust the new one, then each uses it, then the former one
 * is dropped. A second call continues an interrupted one.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before each step, if a member is unhealthy or has missed a step, because the others would
 * no longer trust it
 */
export async function rotatePeerAuthority(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/peer-authority", onProgress);
  // If one member uses it, all members trust it.
  if (!rotation.someAre("using") && !rotation.allTrustOne()) await rotation.trustNew(peerAuthority);
  await rotation.advance("trusting", "use", "uses the new authority");
  await rotation.advance("using", "drop", "no longer trusts the former authority");
  return rotation.newest();
}

/**
 * Introduces the API's new authority without affecting clients: all members trust it and publish it beside the current
 * one, then it signs client certificates. All existing credentials keep working. A second call continues an interrupted
 * one.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before each step, if a member is unhealthy or has missed a step
 */
export async function beginApiRotation(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/authority", onProgress);
  if (rotation.someAre("using")) {
    throw new ClusterRequestError("the former authority is already being removed: continue with --finish");
  }
  if (!rotation.someAre("issuing") && !rotation.allTrustOne()) await rotation.trustNew(apiAuthority);
  await rotation.advance("trusting", "issue", "gives clients certificates of the new authority");
  return rotation.newest();
}

/**
 * Replaces the API's former authority with the new one. Clients that have not fetched the new one no longer trust the
 * servers, and are no longer trusted. A second call continues an interrupted one.
 * @returns the hash of the only remaining authority
 * @throws ClusterRequestError, before each step, when a member is unhealthy or has missed a step, and before the first
 * step if it would lock out this client
 */
export async function finishApiRotation(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/authority", onProgress);
  if (rotation.someAre("trusting") && !rotation.someAre("using")) {
    throw new ClusterRequestError(
      "not all members issue certificates of the new authority yet: run this without --finish first",
    );
  }
  await rotation.requireNewCredentials();
  // A member with a restored directory catches up with the others.
  await rotation.advance("trusting", "issue", "gives clients certificates of the new authority");
  await rotation.advance("issuing", "use", "is known by the new authority");
  await rotation.advance("using", "drop", "no longer trusts the former authority");
  return rotation.newest();
}

/** The members during a rotation. */
class AuthorityRotation {
  readonly #client: ClusterClient;
  readonly #path: string;
  readonly #onProgress: OnProgress;
  /** The member that is asked for the members: the leader, once it is known. */
  #asked: { readonly id: number | undefined; readonly client: ClusterClient };
  /** Members by id, so that concurrent rotations start with the same one. */
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

  /**
   * Reports whether all members trust the same new authority, as after an interrupted call, so that no other is needed.
   */
  allTrustOne(): boolean {
    return this.#members.every(({ phase, newest }) => phase === "trusting" && newest === this.#members[0]?.newest);
  }

  async trustNew(kind: AuthorityKind): Promise<void> {
    const authority = newAuthority(kind, Date.now());
    const hash = pinOf(authority.certificate);
    const first = new Map(this.#members.map(({ report, newest }) => [report.id, newest]));
    const isDue = ({ newest }: Member) => newest !== hash;
    // A member that joined in the meantime starts with the authority of that time.
    const stepOf = ({ report, newest }: Member): RotationStep => {
      return { step: "trust", authority, newest: first.get(report.id) ?? newest };
    };
    await this.#advance(isDue, () => stepOf, "trusts the new authority");
  }

  /** Takes a step on all members. @throws ClusterRequestError, also when the members have different authorities */
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
      if (round > roundsMax)
        throw new ClusterRequestError("members keep joining: wait until they have joined, then try again");
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

  /**
   * Returns the authority that all members have. @throws ClusterRequestError that names a member without it, for example
   * after a restored backup
   */
  newest(): CertificatePin {
    const hashes = [...new Set(this.#members.map(({ newest }) => newest))];
    // Prefers the authority that most members have, and then the one that has advanced furthest.
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

  /** Checks that this client's own kubeconfig has the new credentials. */
  async requireNewCredentials(): Promise<void> {
    const newest = this.newest();
    const { ca, cert } = await this.#client.tls();
    const former = this.#members.flatMap(({ trusted }) => trusted).filter((one) => pinOf(one) !== newest);
    const known = ca === undefined ? [] : pinsOf(String(ca));
    const isOld = known.length > 0 && !known.includes(newest) && former.some((one) => known.includes(pinOf(one)));
    if (!isOld && (cert === undefined || !isSignedByOneOf(former, String(cert)))) return;
    throw new ClusterRequestError(
      "this kubeconfig trusts only the former authority: before you finish, fetch a new one from a member on every machine",
    );
  }

  async #askAll(): Promise<void> {
    const { members } = await this.#leaderReport();
    const unwell = members.find(({ health }) => health !== "ok" && health !== "behind");
    if (unwell !== undefined) {
      const why = unwell.problem ?? unwell.health;
      throw new ClusterRequestError(`member ${unwell.id} (${unwell.name}) must be healthy, or removed, first: ${why}`);
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

  /** Returns the leader's report. Another replica may not know every member, and would leave one behind. */
  async #leaderReport(): Promise<ClusterReport> {
    for (let hop = 0; hop < hopsMax; hop++) {
      const report = await clusterReport(this.#asked.client);
      const leading = report.members.find(({ id }) => id === report.leader);
      if (leading === undefined) break;
      if (leading.id === this.#asked.id) return report;
      this.#asked = { id: leading.id, client: this.#clientOf(leading, report.members.length) };
    }
    throw new ClusterRequestError("there is no leader: wait until one is elected");
  }

  /** Returns the client of a member. A replica that is alone may not know its URL. */
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
