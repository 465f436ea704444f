import type { Entry } from "../../api/entry.ts";
import { toRevision } from "../../api/revision.ts";
import { storedResources } from "../../kinds/stored-resources.ts";
import { EntryCipher } from "../../storage/encryption/entry-cipher.ts";
import type { EtcdStore } from "../../storage/etcd/etcd-store.ts";
import { masterLeasePrefix } from "../../storage/record-prefixes.ts";
import { importReplica } from "../../storage/replicated/import-replica.ts";
import { requireEmpty } from "../../storage/replicated/new-replica.ts";
import { fillGap, splitAtResourceVersion } from "../../storage/resource-version-gap.ts";
import type { Terminal } from "../terminal.ts";
import { layoutOf, openEtcdSide } from "./etcd-side.ts";
import type { MigrateOptions } from "./migrate-options.ts";
import { objectsOf, progressOf, refuse } from "./migrated-objects.ts";
import { unknownKeys } from "./unknown-keys.ts";
import { openKeys, type UsedKeys } from "./used-keys.ts";

/** Revisions that are skipped, so that clients see none twice. */
const revisionGap = 1_000;

/** Copies all objects of an etcd into a new data directory. */
export async function migrateFromEtcd(options: MigrateOptions, terminal: Terminal): Promise<number> {
  const { etcd, directory, encryption, dryRun } = options;
  await requireEmpty(directory);
  using keys = await openKeys(encryption);
  const layout = layoutOf({ etcd, transformers: keys.transformers, definitionAt: () => undefined });
  const { store, client } = await openEtcdSide(etcd, layout);
  try {
    const entries = objectsOf(store);
    terminal.complain(`etcd has ${entries.length} objects at revision ${store.revision}`);
    const unknown = await unknownKeys(client, layout);
    refuse([...problemsOf(store), ...unknown.map((key) => `${key}: this key belongs to no known resource`)], terminal);
    if (dryRun) {
      terminal.print(`${directory}: ${entries.length} objects would be copied; nothing would be refused`);
      return 0;
    }
    const sealed = sealedEntries(entries, keys);
    const revision = toRevision(store.revision + revisionGap);
    const onProgress = progressOf("objects copied", sealed.length, terminal);
    const { objects } = await importReplica({ directory, entries: sealed, revision, onProgress });
    terminal.print(`${directory}: ${objects} objects, all read back, at revision ${revision}`);
    return 0;
  } finally {
    await store.close();
  }
}

function problemsOf(store: EtcdStore): string[] {
  const running = store.scan(masterLeasePrefix).map(({ key }) => key.slice(masterLeasePrefix.length));
  const problems = store.corrupt.map(({ key, why }) => `${key}: ${why}`);
  if (running.length === 0) return problems;
  return [...problems, `API servers are running or were a few seconds ago: ${running.join(", ")}: stop them first`];
}

/** Returns the entries as the data directory keeps them. */
function sealedEntries(entries: readonly Entry[], { transformers }: UsedKeys): Entry[] {
  const cipher = new EntryCipher(transformers, storedResources());
  return entries.map((entry) => {
    const put = { kind: "put", index: entry.index, body: splitAtResourceVersion(entry.body) } as const;
    const sealed = cipher.seal(entry.key, put, undefined);
    if (sealed.kind !== "put" || sealed === put) return entry;
    return { ...entry, index: sealed.index, body: fillGap(sealed.body, entry.revision) };
  });
}
