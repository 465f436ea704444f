import type { Cluster, MemberStatus } from "../cluster/cluster.ts";
import { within } from "../cluster/within.ts";
import type { Violation } from "./violation.ts";

const agreeMsMax = 15_000;

/** Checks that all members reach the same log index with the same hash of their contents. Servers on etcd have no log. */
export async function stateLaw(cluster: Cluster): Promise<Violation[]> {
  if (cluster.members.length === 1 || cluster.etcd !== undefined) return [];
  let known: (MemberStatus | undefined)[] = [];
  const agreed = await within(agreeMsMax, async () => {
    known = await Promise.all(cluster.members.map(({ number }) => cluster.status(number)));
    const [first] = known;
    return first !== undefined && known.every((status) => status?.appliedIndex === first.appliedIndex);
  });
  const what = known
    .map((status, index) => `m${index + 1}: ${status === undefined ? "silent" : describe(status)}`)
    .join("; ");
  const failed = known.filter((status) => status?.failure !== undefined);
  if (failed.length > 0) return [{ law: "state", detail: `a member has failed: ${what}` }];
  if (!agreed) return [{ law: "state", detail: `the members did not reach the same index: ${what}` }];
  const isOne = known.every((status) => status?.stateHash === known[0]?.stateHash);
  return isOne ? [] : [{ law: "state", detail: `the members hold different states at the same index: ${what}` }];
}

function describe({ role, appliedIndex, revision, stateHash, failure }: MemberStatus): string {
  return `${role} at ${appliedIndex}, revision ${revision}, ${stateHash.slice(0, 12)}${failure === undefined ? "" : `, failed: ${failure}`}`;
}
