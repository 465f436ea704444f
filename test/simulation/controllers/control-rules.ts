import type { Entry as LogRecord } from "../../../raft/core/entry.ts";
import { must } from "../../../raft/testing/simulator/violation.ts";
import type { Entry, Key } from "../../../src/api/entry.ts";
import type { Node, PersistentVolumeClaim, Pod } from "../../../src/api/types/core-v1.ts";
import type { ResourceClaim } from "../../../src/api/types/resource-v1.ts";
import type { Effect } from "../../../src/storage/replicated/replicated-state.ts";
import type { StoreEvent } from "../../../src/storage/store.ts";
import type { LogWitness } from "../replica-machine.ts";
import { objectOf, prefixes } from "./cluster-objects.ts";
import { steadfast } from "./users.ts";

/** Follows the log, and checks at every change what controllers must never do. */
export class ControlRules implements LogWitness {
  readonly #entries = new Map<Key, Entry>();
  /** Revisions from which objects are being deleted. */
  readonly #doomed = new Map<Key, number>();
  #index = 0;
  /** Number of deletions, and of objects that controllers created. */
  deletions = 0;
  claims = 0;
  nodeParts = 0;
  evictions = 0;

  applied({ index }: LogRecord, effect: Effect | undefined): void {
    if (index <= this.#index) return;
    this.#index = index;
    for (const event of effect?.events ?? []) {
      this.#take(event);
      if (event.type === "ADDED") this.#checkNamespace(event);
    }
  }

  /** Nothing comes into a namespace that is gone. */
  #checkNamespace({ entry }: StoreEvent): void {
    const namespace = objectOf(entry).metadata?.namespace;
    const isHomeless = namespace !== undefined && !this.#entries.has(prefixes.namespaces + namespace);
    must(!isHomeless, () => `${entry.key} comes into a namespace that is gone`);
  }

  #take({ type, entry, previous }: StoreEvent): void {
    const { key } = entry;
    if (type === "DELETED") {
      this.#entries.delete(key);
      this.deletions++;
    } else {
      this.#entries.set(key, entry);
      const isDoomed = objectOf(entry).metadata?.deletionTimestamp !== undefined;
      if (isDoomed && !this.#doomed.has(key)) this.#doomed.set(key, entry.revision);
    }
    if (key.startsWith(prefixes.pods)) this.#checkPod(type, entry);
    else if (key.startsWith(prefixes.nodes) && type === "MODIFIED") this.#checkNode(entry, previous);
    else if (key.startsWith(prefixes.claims) && type === "DELETED") this.#checkReleased(entry);
    else if (key.startsWith(prefixes.deviceClaims) && type === "ADDED") this.#checkDeviceClaim(entry);
    if (type === "DELETED") this.#doomed.delete(key);
  }

  /** A pod on a node that was always there and always well must stay. */
  #checkPod(type: StoreEvent["type"], entry: Entry): void {
    const { metadata, status } = objectOf<Pod>(entry);
    const isDoomed = type === "DELETED" || metadata.deletionTimestamp !== undefined;
    if (status?.conditions?.some((condition) => condition.type === "DisruptionTarget") === true) this.evictions++;
    must(!isDoomed || metadata.name?.startsWith(steadfast) !== true, () => `${entry.key} is deleted, and should stay`);
  }

  /** No leader gives a part of the range of pods to two nodes. */
  #checkNode(entry: Entry, previous: Entry | undefined): void {
    const part = objectOf<Node>(entry).spec?.podCIDR;
    if (part === undefined || previous === undefined || objectOf<Node>(previous).spec?.podCIDR === part) return;
    this.nodeParts++;
    for (const [key, other] of this.#entries) {
      if (!key.startsWith(prefixes.nodes) || key === entry.key) continue;
      must(objectOf<Node>(other).spec?.podCIDR !== part, () => `${entry.key} and ${key} both have ${part}`);
    }
  }

  /** A claim stays while a pod uses it that was on a node before the claim was deleted. */
  #checkReleased(entry: Entry): void {
    const { metadata } = objectOf<PersistentVolumeClaim>(entry);
    const { namespace = "", name, deletionTimestamp } = metadata;
    if (deletionTimestamp === undefined) return;
    for (const [key, other] of this.#entries) {
      if (!key.startsWith(`${prefixes.pods}${namespace}/`)) continue;
      const pod = objectOf<Pod>(other);
      const volumes = pod.spec?.volumes ?? [];
      const uses = volumes.some((volume) => volume.persistentVolumeClaim?.claimName === name);
      const isOlder = (this.#doomed.get(entry.key) ?? 0) > other.createRevision;
      must(!uses || !isOlder, () => `${entry.key} is released, and ${key} uses it`);
    }
  }

  /** A pod has each claim for devices once. */
  #checkDeviceClaim(entry: Entry): void {
    this.claims++;
    const identity = claimIdentity(entry);
    if (identity === undefined) return;
    for (const [key, other] of this.#entries) {
      if (key === entry.key || !key.startsWith(prefixes.deviceClaims)) continue;
      must(claimIdentity(other) !== identity, () => `${entry.key} and ${key} are the same claim of a pod`);
    }
  }
}

function claimIdentity(entry: Entry): string | undefined {
  const { annotations = {}, ownerReferences = [] } = objectOf<ResourceClaim>(entry).metadata;
  const name = annotations["resource.kubernetes.io/pod-claim-name"];
  return name === undefined ? undefined : `${ownerReferences[0]?.uid} ${name}`;
}
