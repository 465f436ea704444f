import { X509Certificate } from "node:crypto";
import { pinOf, pinsOf } from "../pki/certificate-pin.ts";
import {
  type AuthorityKind,
  apiAuthority,
  newAuthority,
  peerAuthority,
  type RotationPhase,
  type RotationStep,
} from "../pki/rotating-authority.ts";
import { type AuthorityStatus, parseAuthorityStatus } from "./authority-status.ts";
import { type ClusterClient, ClusterRequestError } from "./cluster-client.ts";
import { clusterReport, type MemberReport } from "./cluster-report.ts";

interface Member extends AuthorityStatus {
  readonly report: MemberReport;
  readonly client: ClusterClient;
}

type OnProgress = (text: string) => void;

/** A member that joins meanwhile takes the step as well. */
const roundsMax = 5;

/**
 * Gives the members another authority while they serve: all of them trust it first, then each uses it, then the former one is
 * trusted no more. When it was cut short, a second call goes on where the first one was.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before anything is changed, when a member is not well: it would be a stranger to the others
 */
export async function rotatePeerAuthority(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/peer-authority", onProgress);
  // Once one of them uses it, all have trusted it.
  if (!rotation.someAre("using")) await rotation.trustNew(peerAuthority);
  await rotation.advance("trusting", "use", "uses the new authority");
  await rotation.advance("using", "drop", "trusts the former authority no more");
  return rotation.newest();
}

/**
 * Brings the API's new authority as far as nobody has to know it yet: all members trust it and publish it beside the one in
 * use, then it signs what clients get. All that clients have goes on working. A second call goes on where the first one was.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before anything is changed, when a member is not well
 */
export async function beginApiRotation(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/authority", onProgress);
  if (rotation.someAre("using")) {
    throw new ClusterRequestError("the former authority is being given up already: go on with --finish");
  }
  if (!rotation.someAre("issuing")) await rotation.trustNew(apiAuthority);
  rotation.newest();
  await rotation.advance("trusting", "issue", "gives clients certificates of the new authority");
  return rotation.newest();
}

/**
 * Puts the API's new authority in the place of the former one, which is trusted no more: who has not fetched the new one by
 * now knows the servers no more, and is not known by them.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before anything is changed, when a member is not well, and when we were locked out ourselves
 */
export async function finishApiRotation(client: ClusterClient, onProgress: OnProgress): Promise<string> {
  const rotation = await AuthorityRotation.open(client, "/cluster/authority", onProgress);
  if (rotation.someAre("trusting")) {
    throw new ClusterRequestError("not all members give out certificates of it yet: go on without --finish");
  }
  if (!rotation.someAre("issuing") && !rotation.someAre("using")) {
    throw new ClusterRequestError("no new authority is on its way: begin without --finish");
  }
  await rotation.requireNewCredentials();
  await rotation.advance("issuing", "use", "is known by the new authority");
  await rotation.advance("using", "drop", "trusts the former authority no more");
  return rotation.newest();
}

/** The members, each on its way from one authority to another. */
class AuthorityRotation {
  readonly #client: ClusterClient;
  readonly #path: string;
  readonly #onProgress: OnProgress;
  #members: readonly Member[] = [];

  static async open(client: ClusterClient, path: string, onProgress: OnProgress): Promise<AuthorityRotation> {
    const rotation = new AuthorityRotation(client, path, onProgress);
    await rotation.#askAll();
    return rotation;
  }

  private constructor(client: ClusterClient, path: string, onProgress: OnProgress) {
    this.#client = client;
    this.#path = path;
    this.#onProgress = onProgress;
  }

  someAre(phase: RotationPhase): boolean {
    return this.#members.some((member) => member.phase === phase);
  }

  async trustNew(kind: AuthorityKind): Promise<void> {
    const authority = newAuthority(kind, Date.now());
    const hash = pinOf(authority.certificate);
    const isDue = ({ newest }: Member) => newest !== hash;
    await this.#advance(isDue, { step: "trust", authority }, "trusts the new authority");
  }

  advance(from: RotationPhase, step: "issue" | "use" | "drop", done: string): Promise<void> {
    return this.#advance(({ phase }) => phase === from, { step }, done);
  }

  async #advance(isDue: (member: Member) => boolean, step: RotationStep, done: string): Promise<void> {
    for (let round = 1; this.#members.some(isDue); round++) {
      if (round > roundsMax) throw new ClusterRequestError("members keep coming: wait until they are there");
      for (const { report, client } of this.#members.filter(isDue)) {
        await client.tell({ method: "POST", path: this.#path, body: step });
        this.#onProgress(`member ${report.id} (${report.name}) ${done}`);
      }
      await this.#askAll();
    }
  }

  /** Which all of them have. @throws ClusterRequestError naming one that missed it, such as by a backup put back */
  newest(): string {
    const [hash = "", ...others] = new Set(this.#members.map(({ newest }) => newest));
    if (others.length === 0) return hash;
    const missed = this.#members.find(({ phase }) => phase === "none") ?? this.#members[0];
    const who = `member ${missed?.report.id} (${missed?.report.name})`;
    throw new ClusterRequestError(
      `the members do not have the same authority: remove ${who}, and let it join again with an empty directory`,
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
    const { members } = await clusterReport(this.#client);
    const unwell = members.find(({ health }) => health !== "ok" && health !== "behind");
    if (unwell !== undefined) {
      const why = unwell.problem ?? unwell.health;
      throw new ClusterRequestError(`member ${unwell.id} (${unwell.name}) has to be well, or removed, before: ${why}`);
    }
    this.#members = await Promise.all(
      members.map(async (report) => {
        // A replica that is alone may not know where others would reach it.
        const client = members.length === 1 ? this.#client : this.#client.at(report.clientUrl);
        return { report, client, ...parseAuthorityStatus(await client.get(this.#path)) };
      }),
    );
  }
}

function isSignedByOneOf(authorities: readonly string[], certificate: string): boolean {
  const leaf = new X509Certificate(certificate);
  return authorities.some((one) => leaf.verify(new X509Certificate(one).publicKey));
}
