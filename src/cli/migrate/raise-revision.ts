import type { Revision } from "../../api/revision.ts";
import { StartupError } from "../../process/startup-error.ts";
import { methods } from "../../storage/etcd/client/messages.ts";
import type { KubernetesLayout } from "../../storage/etcd/layout/kubernetes-layout.ts";
import type { OpenEtcdStore } from "../../storage/etcd/open-etcd-store.ts";
import { ownPrefix } from "../../storage/record-prefixes.ts";
import type { Terminal } from "../terminal.ts";
import { writeAll } from "./write-all.ts";

/** Revisions that are made by writing. More of them take too long. */
const raisedMax = 1_000_000;
const writeTimeoutMs = 10_000;

/**
 * Returns the number of revisions that etcd lacks to be above those that clients of the other store have seen.
 * @throws StartupError if etcd is too far behind
 */
export function missingBelow(seen: Revision, revision: Revision): number {
  const missing = Math.max(0, seen + 1 - revision);
  if (missing <= raisedMax) return missing;
  throw new StartupError(
    `etcd is at revision ${revision}, and clients have seen ${seen}: take a snapshot of this etcd, and restore it with ` +
      `"etcdutl snapshot restore --bump-revision ${missing} --mark-compacted"`,
  );
}

/** Brings etcd to a higher revision. Clients then learn that their revisions are old, and list again. */
export async function raiseRevision(
  { store, client }: OpenEtcdStore,
  layout: KubernetesLayout,
  missing: number,
  terminal: Terminal,
): Promise<void> {
  if (missing === 0) return;
  const key = layout.etcdKey(`${ownPrefix}revision`);
  const put = { key, value: Buffer.from("revision"), lease: 0 };
  const raise = async () => {
    await client.call(methods.txn, { compare: [], success: [{ put }], failure: [] }, writeTimeoutMs);
  };
  await writeAll("revisions raised", missing, raise, terminal);
  await client.call(methods.txn, { compare: [], success: [{ deleteRange: { key } }], failure: [] }, writeTimeoutMs);
  await store.readBarrier();
}
