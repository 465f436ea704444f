import { indexOfBytes } from "../../../api/codec/byte-text.ts";
import { decodeBody } from "../../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../../api/entry.ts";
import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { SetMap } from "../../../process/set-map.ts";
import { uidOf } from "../../../storage/object-uid.ts";
import type { Store, StoreEvent } from "../../../storage/store.ts";
import { podReferences, type ReferenceKey, referenceKey, volumeReferences } from "./references.ts";

/** Key prefixes of the kinds, each with a trailing slash. */
export interface NodeGraphPrefixes {
  readonly pods: Key;
  readonly persistentVolumes: Key;
  readonly volumeAttachments: Key;
  readonly resourceSlices: Key;
  readonly podCertificateRequests: Key;
}

interface BoundPod {
  readonly node: string;
  readonly references: readonly ReferenceKey[];
}
interface Volume {
  readonly claim: ReferenceKey | undefined;
  readonly secrets: readonly ReferenceKey[];
}

/**
 * The objects that each node may use: those of the pods bound to it, and those reachable from there.
 *
 *     secret, config map, claim, account ← pod → node       volume ← claim       secret ← volume
 *
 * Updated in the turn in which a change of the store becomes visible.
 */
export class NodeGraph {
  readonly #prefixes: NodeGraphPrefixes;
  readonly #pods = new Map<Key, BoundPod>();
  /** Number of a node's pods that use an object, by object and node. */
  readonly #uses = new Map<ReferenceKey, Map<string, number>>();
  readonly #volumes = new Map<string, Volume>();
  readonly #volumesOfSecret = new SetMap<ReferenceKey, string>();
  /** Objects that name their node directly, by key. */
  readonly #owned = new Map<Key, string>();

  constructor(prefixes: NodeGraphPrefixes) {
    this.#prefixes = prefixes;
  }

  follow(store: Pick<Store, "scan" | "subscribe">): Disposable {
    for (const prefix of Object.values(this.#prefixes)) for (const entry of store.scan(prefix)) this.#put(entry);
    return store.subscribe((events) => {
      for (const event of events) this.#receive(event);
    });
  }

  /** Reports whether the node may use a secret, config map, claim, volume, account, attachment, slice or pod. */
  reaches(node: string, resource: string, namespace: string, name: string): boolean {
    const { pods, volumeAttachments, resourceSlices, podCertificateRequests } = this.#prefixes;
    switch (resource) {
      case "pods":
        return this.#pods.get(`${pods}${namespace}/${name}`)?.node === node;
      case "volumeattachments":
        return this.#owned.get(volumeAttachments + name) === node;
      case "resourceslices":
        return this.#owned.get(resourceSlices + name) === node;
      case "podcertificaterequests":
        return this.#owned.get(`${podCertificateRequests}${namespace}/${name}`) === node;
      case "persistentvolumes":
        return this.#reachesVolume(node, name);
      default:
        return this.#reachesReference(node, referenceKey(resource, namespace, name));
    }
  }

  #reachesReference(node: string, key: ReferenceKey): boolean {
    if (this.#uses.get(key)?.has(node) === true) return true;
    for (const volume of this.#volumesOfSecret.get(key)) if (this.#reachesVolume(node, volume)) return true;
    return false;
  }

  #reachesVolume(node: string, name: string): boolean {
    const claim = this.#volumes.get(name)?.claim;
    return claim !== undefined && this.#uses.get(claim)?.has(node) === true;
  }

  #receive({ type, entry, previous }: StoreEvent): void {
    const { key } = entry;
    if (key.startsWith(this.#prefixes.pods) && type === "MODIFIED" && hasSameReferences(entry, previous)) return;
    if (type === "DELETED") this.#remove(key);
    else this.#put(entry);
  }

  #put(entry: Entry): void {
    const { key } = entry;
    const { pods, persistentVolumes, volumeAttachments, resourceSlices, podCertificateRequests } = this.#prefixes;
    if (key.startsWith(pods)) this.#putPod(entry);
    else if (key.startsWith(persistentVolumes)) this.#putVolume(entry);
    else if ([volumeAttachments, resourceSlices, podCertificateRequests].some((prefix) => key.startsWith(prefix))) {
      this.#owned.set(key, nodeNameIn(decodeBody(entry)));
    }
  }

  #remove(key: Key): void {
    if (key.startsWith(this.#prefixes.pods)) this.#removePod(key);
    else if (key.startsWith(this.#prefixes.persistentVolumes)) this.#removeVolume(this.#volumeName(key));
    else this.#owned.delete(key);
  }

  #putPod(entry: Entry): void {
    const { key } = entry;
    this.#removePod(key);
    const pod = decodeBody(entry);
    const node = nodeNameIn(pod);
    if (node === "") return;
    const [namespace = "", name = ""] = key.slice(this.#prefixes.pods.length).split("/");
    // The node itself created a mirror pod, so the pod must not give access to anything.
    const references = isMirror(pod) ? [] : podReferences(pod, namespace, name);
    this.#pods.set(key, { node, references });
    for (const reference of references) this.#count(reference, node, 1);
  }

  #removePod(key: Key): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    for (const reference of pod.references) this.#count(reference, pod.node, -1);
  }

  #count(reference: ReferenceKey, node: string, by: number): void {
    const nodes = this.#uses.get(reference) ?? new Map<string, number>();
    const count = (nodes.get(node) ?? 0) + by;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size > 0) this.#uses.set(reference, nodes);
    else this.#uses.delete(reference);
  }

  #putVolume(entry: Entry): void {
    const name = this.#volumeName(entry.key);
    this.#removeVolume(name);
    const volume = volumeReferences(decodeBody(entry));
    this.#volumes.set(name, volume);
    for (const secret of volume.secrets) this.#volumesOfSecret.add(secret, name);
  }

  #removeVolume(name: string): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) this.#volumesOfSecret.delete(secret, name);
    this.#volumes.delete(name);
  }

  #volumeName(key: Key): string {
    return key.slice(this.#prefixes.persistentVolumes.length);
  }
}

const laterReferences = ['"resourceClaimStatuses"', '"ephemeralContainers"'].map((text) => Buffer.from(text));

/**
 * Reports whether the references are unchanged. Almost every update of a pod changes only its status, and the pod need
 * not be read again.
 */
function hasSameReferences(entry: Entry, previous: Entry | undefined): boolean {
  if (previous === undefined || uidOf(previous) !== uidOf(entry)) return false;
  const node = entry.index.fields?.["spec.nodeName"];
  if (node === undefined || node !== previous.index.fields?.["spec.nodeName"]) return false;
  return [entry, previous].every(({ body }) => laterReferences.every((text) => indexOfBytes(body, text) < 0));
}

function nodeNameIn({ spec }: JsonObject): string {
  const name = isJsonObject(spec) ? spec["nodeName"] : undefined;
  return typeof name === "string" ? name : "";
}

function isMirror({ metadata }: JsonObject): boolean {
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return isJsonObject(annotations) && annotations["kubernetes.io/config.mirror"] !== undefined;
}
