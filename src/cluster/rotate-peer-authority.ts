import { newPeerAuthority } from "../pki/peer-certificates.ts";
import type { RotationPhase } from "../pki/peer-identity.ts";
import { type ClusterClient, ClusterRequestError } from "./cluster-client.ts";
import { clusterReport, type MemberReport } from "./cluster-report.ts";
import { parsePeerAuthorityStatus, type PeerAuthorityStatus, type RotationStep } from "./peer-authority.ts";

const path = "/cluster/peer-authority";

interface Member extends PeerAuthorityStatus {
  readonly report: MemberReport;
  readonly client: ClusterClient;
}

/**
 * Gives the members another authority while they serve: all of them trust it first, then each uses it, then the former one is
 * trusted no more. When it was cut short, a second call goes on where the first one was.
 * @returns the hash of the new authority
 * @throws ClusterRequestError, before anything is changed, when a member is not well: it would be a stranger to the others
 */
export async function rotatePeerAuthority(client: ClusterClient, onProgress: (text: string) => void): Promise<string> {
  let members = await askAll(client);
  const advance = async (from: readonly RotationPhase[], step: RotationStep, done: string) => {
    for (const { phase, report, client: one } of members) {
      if (!from.includes(phase)) continue;
      await one.tell({ method: "POST", path, body: step });
      onProgress(`member ${report.id} (${report.name}) ${done}`);
    }
    members = await askAll(client);
  };
  // Once one of them uses it, all have trusted it.
  if (!members.some(({ phase }) => phase === "using")) {
    const authority = newPeerAuthority(Date.now());
    await advance(["none", "trusting"], { step: "trust", authority }, "trusts the new authority");
  }
  await advance(["trusting"], { step: "use" }, "uses the new authority");
  await advance(["using"], { step: "drop" }, "trusts the former authority no more");
  const hashes = new Set(members.map(({ authority }) => authority));
  const [hash] = hashes;
  if (hash === undefined || hashes.size > 1)
    throw new ClusterRequestError("the members do not have the same authority");
  return hash;
}

async function askAll(client: ClusterClient): Promise<Member[]> {
  const { members } = await clusterReport(client);
  const unwell = members.find(({ health }) => health !== "ok" && health !== "behind");
  if (unwell !== undefined) {
    const why = unwell.problem ?? unwell.health;
    throw new ClusterRequestError(`member ${unwell.id} (${unwell.name}) has to be well, or removed, before: ${why}`);
  }
  return Promise.all(
    members.map(async (report) => {
      const one = client.at(report.clientUrl);
      return { report, client: one, ...parsePeerAuthorityStatus(await one.get(path)) };
    }),
  );
}
