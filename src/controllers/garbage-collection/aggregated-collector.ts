import type { Key } from "../../api/entry.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ObjectMeta, OwnerReference } from "../../api/object-meta.ts";
import { foregroundDeletionFinalizer, orphanFinalizer } from "../../api/vendor.ts";
import type { DiscoveredVersions } from "../../client/aggregation/discovered-version.ts";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";
import { unlessGone } from "../unless-gone.ts";
import { type AggregatedObject, AggregatedObjects } from "./aggregated-objects.ts";
import {
  awaitsDependents,
  type OwnerState,
  orphansDependents,
  type PropagationPolicy,
  type Verdict,
  verdictOn,
} from "./verdict.ts";

/** Time limit of one write. */
const timeoutMs = 30_000;

export interface AggregatedCollectorParts {
  readonly versions: DiscoveredVersions;
  readonly client: Client;
  readonly clock: Clock;
  /** The stored objects, as the collector sees them. */
  readonly stored: StoredObjects;
  /** Called if the objects of a resource could not be read. */
  readonly syncFailed?: (() => void) | undefined;
  readonly onError: (error: unknown) => void;
}

/** The part of the collector that knows the stored objects. */
export interface StoredObjects {
  /** Queues the key of an object that may be garbage, or of one whose dependents are orphaned. */
  toDelete(key: Key): void;
  toOrphan(key: Key): void;
  /** Queues the key of an object that may be garbage again after a while. */
  later(key: Key): void;
  /** Checks the dependents of an owner, wherever they are. */
  expand(uid: string): void;
  /** Checks all objects again that had an owner of an unserved kind. */
  lookAgain(): void;
  /** Returns the key of the stored object with this uid if it waits for its dependents. */
  awaiting(uid: string): Key | undefined;
  /** Returns the state of a stored owner in the newest state of the store. */
  stateOf(owner: OwnerReference, namespace: string): OwnerState;
  /** Resolves when this replica has the newest state. */
  barrier(): Promise<unknown>;
  blocks(uid: string): boolean;
  hasDependents(uid: string): boolean;
  dependentsOf(uid: string): readonly Key[];
  detach(key: Key, uids: ReadonlySet<string>): Promise<void>;
}

/**
 * Collects the objects of extension servers. Deletes them through their servers' API, by the rules for stored objects.
 * They may own stored objects, and stored objects may own them.
 */
export class AggregatedCollector {
  readonly #parts: AggregatedCollectorParts;
  readonly #objects: AggregatedObjects;

  constructor(parts: AggregatedCollectorParts) {
    const { stored } = parts;
    this.#parts = parts;
    this.#objects = new AggregatedObjects({
      ...parts,
      changed: (object, before) => this.#changed(object, before),
      gone: ({ metadata }) => {
        stored.expand(metadata.uid ?? "");
        this.#tellAwaiting(metadata);
      },
      resourcesChanged: () => stored.lookAgain(),
    });
  }

  start(): Disposable {
    return this.#objects.start();
  }

  /** Returns the keys of the objects that name the owner. */
  dependentsOf(uid: string): Key[] {
    return this.#objects.dependentsOf(uid).map(({ key }) => key);
  }

  blocks(uid: string): boolean {
    return this.#objects.blocks(uid);
  }

  /** Returns the states of the owners by uid. */
  async statesOf(owners: readonly OwnerReference[], namespace: string): Promise<ReadonlyMap<string, OwnerState>> {
    const states = owners.map(async (owner) => [owner.uid, await this.#objects.stateOf(owner, namespace)] as const);
    return new Map(await Promise.all(states));
  }

  /** Makes the next write to an object, if any. */
  async attemptToDelete(key: Key): Promise<void> {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    const verdict = await this.#verdictOn(object);
    switch (verdict.kind) {
      case "keep":
        return;
      case "undecided":
        return this.#parts.stored.later(key);
      case "detach":
        return this.#detach(object, verdict.uids);
      case "unblock":
        return this.#changeOwners(object, (owner) => ({ ...owner, blockOwnerDeletion: false }));
      case "release":
        return this.#release(object, foregroundDeletionFinalizer);
      case "delete":
        return this.#delete(object, verdict.policy);
    }
  }

  /** Removes all references to a deleted object whose dependents are orphaned, and then its finalizer. */
  async attemptToOrphan(key: Key): Promise<void> {
    const object = this.#objects.get(key);
    if (object === undefined || !orphansDependents(object.metadata)) return;
    const { stored } = this.#parts;
    const uid = object.metadata.uid ?? "";
    const uids = new Set([uid]);
    await stored.barrier();
    for (const dependent of stored.dependentsOf(uid)) await stored.detach(dependent, uids);
    for (const dependent of this.dependentsOf(uid)) await this.detach(dependent, uids);
    await this.#release(object, orphanFinalizer);
  }

  /** Removes an object's references to the given owners. */
  async detach(key: Key, uids: ReadonlySet<string>): Promise<void> {
    const object = this.#objects.get(key);
    if (object !== undefined) await this.#detach(object, uids);
  }

  async #verdictOn({ metadata }: AggregatedObject): Promise<Verdict> {
    const { stored } = this.#parts;
    const { uid = "", namespace = "", ownerReferences = [] } = metadata;
    const others = ownerReferences.filter((owner) => stored.stateOf(owner, namespace) === "unserved");
    const remote = await this.statesOf(others, namespace);
    await stored.barrier();
    return verdictOn({
      metadata,
      stateOf: (owner) => remote.get(owner.uid) ?? stored.stateOf(owner, namespace),
      isBlocked: () => stored.blocks(uid) || this.blocks(uid),
      hasDependents: () => stored.hasDependents(uid) || this.#objects.dependentsOf(uid).length > 0,
      isInCycle: () => this.#isInCycle(uid),
    });
  }

  /** Follows references that block waiting owners of extension servers, in search of a path back to the object itself. */
  #isInCycle(uid: string): boolean {
    const seen = new Set<string>();
    const waiting = [uid];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const { metadata } of this.#objects.dependentsOf(next)) {
        const dependent = metadata.uid ?? "";
        if (dependent === uid) return true;
        if (seen.has(dependent) || !awaitsDependents(metadata)) continue;
        seen.add(dependent);
        waiting.push(dependent);
      }
    }
    return false;
  }

  #changed({ key, metadata }: AggregatedObject, before: AggregatedObject | undefined): void {
    const { stored } = this.#parts;
    if (orphansDependents(metadata)) stored.toOrphan(key);
    if (awaitsDependents(metadata)) {
      stored.toDelete(key);
      if (before === undefined || !awaitsDependents(before.metadata)) stored.expand(metadata.uid ?? "");
    } else if ((metadata.ownerReferences ?? []).length > 0) stored.toDelete(key);
    if (before !== undefined) this.#tellAwaiting(before.metadata);
  }

  /** Reports waiting owners that may have lost a dependent. */
  #tellAwaiting({ ownerReferences = [] }: ObjectMeta): void {
    const { stored } = this.#parts;
    for (const { uid } of ownerReferences) {
      const key = stored.awaiting(uid) ?? this.#objects.awaiting(uid);
      if (key !== undefined) stored.toDelete(key);
    }
  }

  #detach(object: AggregatedObject, uids: ReadonlySet<string>): Promise<void> {
    return this.#changeOwners(object, (owner) => (uids.has(owner.uid) ? undefined : owner));
  }

  #changeOwners(object: AggregatedObject, next: (owner: OwnerReference) => OwnerReference | undefined): Promise<void> {
    const before = object.metadata.ownerReferences ?? [];
    const after = before.flatMap((owner) => next(owner) ?? []);
    const ownerReferences = after.length === 0 ? null : (after as unknown as JsonObject[]);
    return this.#patch(object, { ownerReferences });
  }

  #release(object: AggregatedObject, finalizer: string): Promise<void> {
    const finalizers = (object.metadata.finalizers ?? []).filter((held) => held !== finalizer);
    return this.#patch(object, { finalizers: finalizers.length === 0 ? null : finalizers });
  }

  /** Changes the metadata, unless the object has changed since it was seen. */
  async #patch({ type, metadata }: AggregatedObject, change: JsonObject): Promise<void> {
    const { uid = "", resourceVersion = "" } = metadata;
    const document = { metadata: { uid, resourceVersion, ...change } };
    await unlessGone(this.#parts.client.patch(type, placeOf(metadata), { kind: "merge", document }, { timeoutMs }));
  }

  async #delete({ type, metadata }: AggregatedObject, propagationPolicy: PropagationPolicy) {
    const { uid, resourceVersion } = metadata;
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const options = { propagationPolicy, preconditions, timeoutMs };
    await unlessGone(this.#parts.client.delete(type, placeOf(metadata), options));
  }
}

function placeOf({ namespace, name = "" }: ObjectMeta) {
  return { name, ...(namespace === undefined || namespace === "" ? {} : { namespace }) };
}
