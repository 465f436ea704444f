import { existsSync } from "node:fs";
import { join } from "node:path";
import { decodeBody } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { storedResources } from "../../kinds/stored-resources.ts";
import { systemClock } from "../../process/clock.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { EtcdOptions } from "../../server/config/etcd.ts";
import { EncryptedStore } from "../../storage/encryption/encrypted-store.ts";
import { ResourceTransformers } from "../../storage/encryption/resource-transformers.ts";
import type { EtcdStore } from "../../storage/etcd/etcd-store.ts";
import type { KubernetesLayout } from "../../storage/etcd/layout/kubernetes-layout.ts";
import type { OpenEtcdStore } from "../../storage/etcd/open-etcd-store.ts";
import { rootPrefix } from "../../storage/etcd/root-prefix.ts";
import { openReplica } from "../../storage/replicated/open-replica.ts";
import { splitAtResourceVersion } from "../../storage/resource-version-gap.ts";
import { type Store, StoreUnavailableError } from "../../storage/store.ts";
import type { Terminal } from "../terminal.ts";
import { layoutOf, openEtcdSide } from "./etcd-side.ts";
import { lostField } from "./lost-field.ts";
import type { MigrateOptions } from "./migrate-options.ts";
import { complainAbout, isRecord, objectsOf, refuse } from "./migrated-objects.ts";
import { missingBelow, raiseRevision } from "./raise-revision.ts";
import { openKeys } from "./used-keys.ts";
import { writeAll } from "./write-all.ts";

/** Copies all objects of a data directory into an etcd. A migration that was interrupted continues when it is repeated. */
export async function migrateToEtcd(options: MigrateOptions, terminal: Terminal): Promise<number> {
  const { etcd, directory, encryption, dryRun } = options;
  using keys = await openKeys(encryption);
  await using source = await openSource(directory, keys.transformers);
  const { store } = source;
  const definitionAt = store.get.bind(store);
  const layout = layoutOf({ etcd, transformers: keys.transformers, definitionAt });
  const plain = layoutOf({ etcd, transformers: new ResourceTransformers(), definitionAt });
  const entries = objectsOf(store);
  terminal.complain(`${directory} has ${entries.length} objects at revision ${store.revision}`);
  const wanted = new Map(entries.map((entry) => [entry.key, entry]));
  const target = await openEtcdSide(etcd, layout);
  try {
    const problems = store.corrupt.map(({ key, why }) => `${key}: ${why}`);
    const { missing, conflicts } = await compare(wanted, target.store, plain);
    refuse([...problems, ...conflicts], terminal);
    const missingRevisions = missingBelow(store.revision, target.store.revision);
    if (dryRun) {
      terminal.print(`${missing.length} objects would be copied; nothing would be refused`);
      return 0;
    }
    if (missing.length < entries.length)
      terminal.complain(`${entries.length - missing.length} objects are there already`);
    await raiseRevision(target, layout, missingRevisions, terminal);
    // A client that read or watched the former store has to list again. This etcd has no history from it.
    await target.store.compact(target.store.revision);
    await copy(missing, target, terminal);
  } finally {
    await target.store.close();
  }
  const revision = await verify(wanted, { etcd, layout, plain }, terminal);
  terminal.print(`${entries.length} objects are in etcd, each compared, at revision ${revision}`);
  return 0;
}

interface Verification {
  readonly etcd: EtcdOptions;
  readonly layout: KubernetesLayout;
  readonly plain: KubernetesLayout;
}

/**
 * Compares all objects with those that another store reads from etcd: the store that wrote them has not decoded them.
 * @throws StartupError
 */
async function verify(
  wanted: ReadonlyMap<string, Entry>,
  { etcd, layout, plain }: Verification,
  terminal: Terminal,
): Promise<Revision> {
  const { store } = await openEtcdSide(etcd, layout);
  try {
    const { missing, conflicts } = await compare(wanted, store, plain);
    const problems = [...conflicts, ...missing.map(({ key }) => `${key}: it was not written`)];
    complainAbout(problems, terminal);
    if (problems.length > 0) {
      throw new StartupError(`the objects were written, and ${problems.length} problems are listed above`);
    }
    return store.revision;
  } finally {
    await store.close();
  }
}

/** Opens the only replica of a data directory. @throws StartupError */
async function openSource(
  directory: string,
  transformers: ResourceTransformers,
): Promise<AsyncDisposable & { readonly store: Store }> {
  if (!existsSync(join(directory, "identity.json"))) {
    throw new StartupError(`${directory} holds no replica: name the data directory of a stopped server`);
  }
  const { store } = await openReplica({ directory, clock: systemClock });
  try {
    await store.readBarrier();
  } catch (error) {
    await store.close();
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new StartupError(
      `${directory} belongs to a cluster: stop all members, and run "quorate cluster recover" on a copy of the directory`,
    );
  }
  const encrypted = new EncryptedStore({ store, clock: systemClock, transformers, resourceOf: storedResources() });
  return { store: encrypted, [Symbol.asyncDispose]: () => encrypted.close() };
}

interface Comparison {
  readonly missing: readonly Entry[];
  readonly conflicts: readonly string[];
}

/** Compares the objects of both sides as etcd would keep them. */
async function compare(
  wanted: ReadonlyMap<string, Entry>,
  store: EtcdStore,
  layout: KubernetesLayout,
): Promise<Comparison> {
  const conflicts = store.corrupt.map(({ key, why }) => `${key}: etcd has an object that cannot be read: ${why}`);
  for (const entry of store.scan(rootPrefix)) {
    if (isRecord(entry) || wanted.has(entry.key)) continue;
    conflicts.push(`${entry.key}: etcd has another object here: choose an etcd, or an --etcd-prefix, without objects`);
  }
  const missing: Entry[] = [];
  for (const entry of wanted.values()) {
    const found = store.get(entry.key);
    try {
      const value = valueOf(layout, entry);
      if (found === undefined) missing.push(entry);
      else if (!value.equals(valueOf(layout, found))) conflicts.push(`${entry.key}: etcd has it in another state`);
    } catch (error) {
      conflicts.push(`${entry.key}: ${(error as Error).message}`);
    }
  }
  return { missing, conflicts };
}

/**
 * Returns the value of an object after one reading, which completes objects of earlier versions with defaults.
 * @throws Error if the value lacks a field of the object
 */
function valueOf(layout: KubernetesLayout, entry: Entry): Buffer {
  const { key, index, body, revision, createRevision } = entry;
  const value = layout.valueOf(key, index, splitAtResourceVersion(body));
  const read = layout.entryOf(key, value, { createRevision, modRevision: revision });
  if (read instanceof Promise) throw new Error("the object is encrypted");
  const isSameVersion = read.index.apiVersion === index.apiVersion;
  const lost = isSameVersion ? lostField(decodeBody(entry), decodeBody(read)) : undefined;
  if (lost !== undefined) throw new Error(`etcd's form of the object does not keep its field ${lost}`);
  return Buffer.from(layout.valueOf(key, read.index, splitAtResourceVersion(read.body)));
}

async function copy(entries: readonly Entry[], { store }: OpenEtcdStore, terminal: Terminal): Promise<void> {
  const write = async (at: number) => {
    const { key, index, body } = entries[at] as Entry;
    const operation = { kind: "put", index, body: splitAtResourceVersion(body) } as const;
    const result = await store.commit({ key, expect: { kind: "absent" }, operation });
    if (result.kind === "applied") return;
    throw new StartupError(`${key}: somebody else writes to this etcd: stop the other servers`);
  };
  await writeAll("objects copied", entries.length, write, terminal);
}
