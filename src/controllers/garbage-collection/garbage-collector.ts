import { storedMetadata } from "../../api/codec/stored-metadata.ts";
import type { Entry, Key } from "../../api/entry.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import type { ObjectMeta } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import { foregroundDeletionFinalizer, orphanFinalizer } from "../../api/vendor.ts";
import type { DiscoveredVersions } from "../../client/aggregation/discovered-version.ts";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import { OwnerIndex } from "../../storage/cacher/owner-index.ts";
import { uidOf } from "../../storage/object-uid.ts";
import type { Store, StoreEvent } from "../../storage/store.ts";
import { eachAtATime } from "../each-at-a-time.ts";
import { namesOf } from "../object-key.ts";
import { SlicedWork } from "../sliced-work.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { AffectedObjects } from "./affected-objects.ts";
import { AggregatedCollector, type StoredObjects } from "./aggregated-collector.ts";
import { AggregatedObjects } from "./aggregated-objects.ts";
import { deleteTarget, detachTarget, releaseTarget, type Target, unblockTarget } from "./collector-writes.ts";
import { MisplacedOwners } from "./misplaced-owners.ts";
import { OwnerLookup } from "./owner-lookup.ts";
import { type OwnerState, orphansDependents, type Verdict, verdictOn } from "./verdict.ts";

/** Number of objects written at a time. */
const workers = 128;
/** Number of owners whose dependents are orphaned at a time, and of dependents written at a time for each. */
const orphanWorkers = 4;
const orphansAtATime = 64;
/** Time after which an object with an unreadable owner is checked again. */
const undecidedMs = 60_000;
/** Maximum number of owners that the search for a cycle visits. */
const cycleMax = 1_000;

export interface GarbageCollectorParts extends QueueSource {
  readonly registries: Registries;
  readonly catalog: Catalog;
  readonly store: Store;
  readonly clock: Clock;
  /** The resources of extension servers, and a client that may change their objects. */
  readonly aggregated?: { readonly versions: DiscoveredVersions; readonly client: Client } | undefined;
  /** Called if the objects of a kind could not be read. */
  readonly syncFailed?: (() => void) | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Deletes the objects whose owners are gone, and finishes deletions that wait for dependents.
 *
 * The store is the only source: there is no second graph that could lag behind it. Each step is one guarded write that
 * follows from the stored state, so another leader can continue at any point.
 */
export function startGarbageCollector(parts: GarbageCollectorParts): Disposable {
  return new GarbageCollector(parts).start();
}

/** The next write to one object, according to this replica's state. */
interface Decision {
  readonly target: Target;
  readonly entry: Entry;
  readonly metadata: ObjectMeta;
  readonly verdict: Verdict;
}

class GarbageCollector {
  readonly #parts: GarbageCollectorParts;
  readonly #running = new DisposableStack();
  readonly #index: OwnerIndex;
  readonly #owners: OwnerLookup;
  readonly #affected: AffectedObjects;
  readonly #reading: SlicedWork;
  readonly #misplaced: MisplacedOwners;
  /** The collector of objects that extension servers have. */
  readonly #aggregated: AggregatedCollector | undefined;
  readonly #toDelete: WorkQueue;
  readonly #toOrphan: WorkQueue;
  /** Kinds to ignore. Events are numerous, own nothing and expire. */
  readonly #ignoredPrefix: Key | undefined;
  /** Objects with an owner of an unserved kind or an unreadable owner. They are checked when a kind is added. */
  readonly #undecided = new Set<Key>();
  /** Owners whose dependents have to be checked. */
  readonly #expanding = new Set<string>();
  readonly #slice = new TurnSlice();

  constructor(parts: GarbageCollectorParts) {
    const { catalog, registries, store, clock, observeQueue, onError } = parts;
    const queue = (name: string, count: number, work: (key: Key) => Promise<void>) =>
      this.#running.use(new WorkQueue({ name, clock, observeQueue, onError, workers: count, work }));
    this.#parts = parts;
    this.#ignoredPrefix = registries.find({ group: "", resource: "events" })?.info.keyPrefix;
    this.#index = this.#running.use(new OwnerIndex(store));
    this.#owners = new OwnerLookup(catalog, store);
    this.#toDelete = queue("garbage_collector_attempt_to_delete", workers, (key) => this.#attemptToDelete(key));
    this.#toOrphan = queue("garbage_collector_attempt_to_orphan", orphanWorkers, (key) => this.#attemptToOrphan(key));
    this.#misplaced = this.#running.use(new MisplacedOwners(parts));
    this.#affected = new AffectedObjects({
      object: (key) => this.#toDelete.add(key),
      orphaning: (key) => this.#toOrphan.add(key),
      awaiting: (uid) => this.#expand(uid),
      gone: (uid) => {
        if (this.#expand(uid)) this.#misplaced.gone(uid);
      },
    });
    this.#aggregated =
      parts.aggregated && new AggregatedCollector({ ...parts, ...parts.aggregated, stored: this.#stored() });
    this.#reading = this.#running.use(
      new SlicedWork((error) => {
        parts.syncFailed?.();
        onError(error);
      }),
    );
  }

  start(): Disposable {
    const { catalog, store } = this.#parts;
    // The index receives each event before the collector, so its answers include the event.
    const building = this.#index.build();
    this.#reading.add(() => building);
    this.#running.use(store.subscribe((events) => this.#receive(events)));
    this.#running.use(
      catalog.follow(
        ({ stored }) => stored !== undefined && this.#kindCame(stored.keyPrefix),
        () => {},
        () => this.#lookAgain(),
      ),
    );
    if (this.#aggregated !== undefined) this.#running.use(this.#aggregated.start());
    return this.#running;
  }

  #stored(): StoredObjects {
    return {
      toDelete: (key) => this.#toDelete.add(key),
      toOrphan: (key) => this.#toOrphan.add(key),
      later: (key) => {
        this.#undecided.add(key);
        this.#toDelete.addAfter(key, undecidedMs);
      },
      expand: (uid) => void this.#expand(uid),
      lookAgain: () => this.#lookAgain(),
      awaiting: (uid) => this.#affected.awaiting(uid),
      stateOf: (owner, namespace) => this.#owners.stateOf(owner, namespace),
      barrier: async () => this.#parts.store.readBarrier(),
      blocks: (uid) => this.#index.someDependent(uid, (dependent) => this.#blocks(dependent, uid)),
      hasDependents: (uid) => this.#index.someDependent(uid, () => true),
      dependentsOf: (uid) => this.#index.dependentsOf(uid),
      detach: (key, uids) => this.#orphan(key, uids),
    };
  }

  /** Handles events. Until the index is complete nothing can be decided; then every object is checked. */
  #receive(events: readonly StoreEvent[]): void {
    if (!this.#index.isComplete) return;
    for (const event of events) {
      const { key } = event.entry;
      if (this.#isIgnored(key)) continue;
      if (event.type === "DELETED") this.#undecided.delete(key);
      this.#affected.receive(event);
    }
  }

  #isIgnored(key: Key): boolean {
    return this.#ignoredPrefix !== undefined && key.startsWith(this.#ignoredPrefix);
  }

  #kindCame(keyPrefix: Key): void {
    if (!this.#isIgnored(keyPrefix)) this.#reading.add(() => this.#read(keyPrefix));
    this.#lookAgain();
  }

  #lookAgain(): void {
    for (const key of this.#undecided) this.#toDelete.add(key);
    this.#undecided.clear();
  }

  /** Checks every object of a kind. */
  *#read(keyPrefix: Key): Generator<void, void> {
    for (const entry of this.#parts.store.scan(keyPrefix)) {
      yield;
      // Events report objects that change in the meantime.
      if (this.#parts.store.get(entry.key) !== entry) continue;
      this.#affected.notice(entry);
      if (entry.index.owners !== undefined && this.#decide(entry.key) !== undefined) this.#toDelete.add(entry.key);
    }
  }

  /** Checks the dependents of an owner. @returns whether there are any */
  #expand(uid: string): boolean {
    for (const key of this.#aggregated?.dependentsOf(uid) ?? []) this.#toDelete.add(key);
    // Once the index is complete, every stored object is checked.
    if (!this.#index.isComplete || !this.#index.someDependent(uid, () => true)) return false;
    if (this.#expanding.size === 0) this.#reading.add(() => this.#readDependents());
    this.#expanding.add(uid);
    return true;
  }

  *#readDependents(): Generator<void, void> {
    for (const uid of this.#expanding) {
      this.#expanding.delete(uid);
      for (const key of this.#index.dependentsOf(uid)) {
        this.#toDelete.add(key);
        yield;
      }
    }
  }

  async #attemptToDelete(key: Key): Promise<void> {
    await this.#slice.pass();
    if (AggregatedObjects.has(key)) return this.#aggregated?.attemptToDelete(key);
    const first = this.#decide(key);
    if (first === undefined) return;
    const remote = await this.#remoteOwners(first);
    // This replica's state may be old. An owner counts as absent only if the newest state lacks it.
    await this.#parts.store.readBarrier();
    // All keys that waited for the same barrier continue in the same turn.
    await this.#slice.pass();
    const decision = this.#running.disposed ? undefined : this.#decide(key, remote);
    if (decision !== undefined) await this.#act(decision);
  }

  /** Asks extension servers for the owners whose kinds this server does not have. */
  async #remoteOwners({ verdict, metadata, target }: Decision): Promise<ReadonlyMap<string, OwnerState> | undefined> {
    if (verdict.kind !== "undecided" || verdict.state !== "unserved") return undefined;
    const { namespace } = target;
    const { ownerReferences = [] } = metadata;
    const unserved = ownerReferences.filter((owner) => this.#owners.stateOf(owner, namespace) === "unserved");
    return this.#aggregated?.statesOf(unserved, namespace);
  }

  /**
   * Returns undefined for an object that does not change.
   * @param remote states of owners that extension servers have, by uid
   */
  #decide(key: Key, remote?: ReadonlyMap<string, OwnerState>): Decision | undefined {
    const entry = this.#parts.store.get(key);
    if (entry === undefined || this.#isIgnored(key)) return undefined;
    const { owners } = entry.index;
    const uid = uidOf(entry);
    if (owners === undefined && this.#affected.awaiting(uid) === undefined) return undefined;
    const target = this.#targetOf(entry);
    if (target === undefined) return undefined;
    const metadata = storedMetadata(entry);
    const verdict = verdictOn({
      metadata,
      stateOf: (owner) => {
        const state = this.#owners.stateOf(owner, target.namespace);
        return state === "unserved" ? (remote?.get(owner.uid) ?? state) : state;
      },
      isBlocked: () =>
        this.#index.someDependent(uid, (dependent) => this.#blocks(dependent, uid)) ||
        this.#aggregated?.blocks(uid) === true,
      hasDependents: () =>
        this.#index.someDependent(uid, () => true) || (this.#aggregated?.dependentsOf(uid) ?? []).length > 0,
      isInCycle: () => this.#isInCycle(entry),
    });
    return verdict.kind === "keep" ? undefined : { target, entry, metadata, verdict };
  }

  #blocks(dependent: Key, owner: string): boolean {
    const owners = this.#parts.store.get(dependent)?.index.owners ?? [];
    return owners.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion);
  }

  /** Follows references that block waiting owners, in search of a path back to the object itself. */
  #isInCycle(entry: Entry): boolean {
    const self = uidOf(entry);
    const seen = new Set<string>();
    const waiting = [entry.index];
    for (let next = waiting.pop(); next !== undefined && seen.size < cycleMax; next = waiting.pop()) {
      for (const { uid, blockOwnerDeletion } of next.owners ?? []) {
        const key = blockOwnerDeletion ? this.#affected.awaiting(uid) : undefined;
        if (key === undefined || seen.has(uid)) continue;
        if (uid === self) return true;
        seen.add(uid);
        const owner = this.#parts.store.get(key);
        if (owner !== undefined && uidOf(owner) === uid) waiting.push(owner.index);
      }
    }
    return false;
  }

  /** Returns undefined if the kind is not served, because nothing can be done then. */
  #targetOf(entry: Entry): Target | undefined {
    const { key } = entry;
    const registry = this.#registryOf(key);
    if (registry === undefined) return undefined;
    const { keyPrefix, namespaced } = registry.info;
    const { namespace, name } = namespaced
      ? namesOf(registry, key)
      : { namespace: "", name: key.slice(keyPrefix.length) };
    return { registry, namespace, name, uid: uidOf(entry) };
  }

  /** Returns the registry of the object with this key. Core kinds have no segment for the group. */
  #registryOf(key: Key): Registry | undefined {
    const { catalog, registries } = this.#parts;
    let end = key.indexOf("/", 1);
    for (let segments = 0; segments < 2 && end >= 0; segments++) {
      end = key.indexOf("/", end + 1);
      const info = end < 0 ? undefined : catalog.findPrefix(key.slice(0, end + 1));
      if (info !== undefined) return registries.of(info);
    }
    return undefined;
  }

  async #act({ target, entry, metadata, verdict }: Decision): Promise<void> {
    if (verdict.kind === "detach" || verdict.kind === "delete") this.#suspect(target, metadata);
    switch (verdict.kind) {
      case "keep":
        return;
      case "undecided":
        this.#undecided.add(entry.key);
        if (verdict.state === "unreadable") this.#toDelete.addAfter(entry.key, undecidedMs);
        return;
      case "detach":
        return detachTarget(target, verdict.uids);
      case "unblock":
        return unblockTarget(target);
      case "release":
        return releaseTarget(target, foregroundDeletionFinalizer);
      case "delete":
        return deleteTarget(target, verdict.policy, String(entry.revision));
    }
  }

  #suspect({ registry, namespace, name, uid }: Target, { ownerReferences = [] }: ObjectMeta): void {
    const { info } = registry;
    const dependent = { apiVersion: apiVersionOf(info), kind: info.kind, namespace, name, uid };
    for (const owner of ownerReferences) {
      if (this.#owners.stateOf(owner, namespace) === "absent") this.#misplaced.suspect(dependent, owner);
    }
  }

  /** Removes all references to a deleted object whose dependents are orphaned, and then its finalizer. */
  async #attemptToOrphan(key: Key): Promise<void> {
    if (AggregatedObjects.has(key)) return this.#aggregated?.attemptToOrphan(key);
    const { store } = this.#parts;
    await store.readBarrier();
    const entry = store.get(key);
    if (entry === undefined || this.#running.disposed || !orphansDependents(storedMetadata(entry))) return;
    const target = this.#targetOf(entry);
    if (target === undefined) return;
    const { uid } = target;
    const uids = new Set([uid]);
    await eachAtATime(this.#index.dependentsOf(uid), orphansAtATime, async (dependent) => {
      await this.#slice.pass();
      if (!this.#running.disposed) await this.#orphan(dependent, uids);
    });
    for (const remote of this.#aggregated?.dependentsOf(uid) ?? []) await this.#aggregated?.detach(remote, uids);
    if (!this.#running.disposed) await releaseTarget(target, orphanFinalizer);
  }

  async #orphan(key: Key, uids: ReadonlySet<string>): Promise<void> {
    const entry = this.#parts.store.get(key);
    if (entry === undefined) return;
    const target = this.#targetOf(entry);
    // The owner keeps its finalizer until this kind is served again.
    if (target === undefined) throw status.serviceUnavailable(`the kind of ${key} is not served`);
    await detachTarget(target, uids);
  }
}
