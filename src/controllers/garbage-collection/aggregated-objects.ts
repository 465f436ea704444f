import type { Key } from "../../api/entry.ts";
import { apiVersionOf, parseApiVersion } from "../../api/gvk.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type {
  DiscoveredResource,
  DiscoveredVersion,
  DiscoveredVersions,
} from "../../client/aggregation/discovered-version.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { Informer } from "../../client/informer.ts";
import { NoAnswerError } from "../../client/transport.ts";
import type { Clock } from "../../process/clock.ts";
import { SetMap } from "../../process/set-map.ts";
import { awaitsDependents, type OwnerState } from "./verdict.ts";

/** Maximum number of watched resources, of objects of each, and of all objects. */
const resourcesMax = 500;
const objectsMax = 100_000;
const totalMaxDefault = 500_000;
/** Time limit of the question whether an owner exists. */
const getTimeoutMs = 10_000;
const neededVerbs = ["delete", "list", "watch"];

/** Prefix of the keys of these objects, which are not keys of the store. */
const keyPrefix = "aggregated:";

export interface AggregatedObject {
  readonly key: Key;
  readonly type: ResourceType;
  readonly metadata: ObjectMeta;
}

export interface AggregatedObjectsParts {
  readonly versions: DiscoveredVersions;
  readonly client: Pick<Client, "get" | "list" | "watch">;
  readonly clock: Clock;
  /** Maximum number of objects of all resources; half a million by default. */
  readonly totalMax?: number | undefined;
  /** Called with an added or changed object. `before` is its last state. */
  changed(object: AggregatedObject, before: AggregatedObject | undefined): void;
  gone(object: AggregatedObject): void;
  /** Called when the resources of a server may have changed. */
  resourcesChanged(): void;
  /** Called if the objects of a resource could not be read. */
  readonly syncFailed?: (() => void) | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * The metadata of all objects of extension servers that can be deleted and watched. A resource remains known while its
 * server does not answer, and is dropped with its APIService.
 */
export class AggregatedObjects {
  readonly #parts: AggregatedObjectsParts;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #objects = new Map<Key, AggregatedObject>();
  /** Keys of the objects by the uids of their owners. */
  readonly #dependents = new SetMap<string, Key>();
  /** Keys of the objects that wait for their dependents, by uid. */
  readonly #awaiting = new Map<string, Key>();

  constructor(parts: AggregatedObjectsParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const running = new DisposableStack();
    running.defer(() => {
      for (const informer of this.#informers.values()) informer[Symbol.dispose]();
      this.#informers.clear();
    });
    const follow = () => {
      this.#reconcile();
      this.#parts.resourcesChanged();
    };
    running.use(this.#parts.versions.follow(follow));
    this.#reconcile();
    return running;
  }

  /** Reports whether the key is one of these objects. */
  static has(key: Key): boolean {
    return key.startsWith(keyPrefix);
  }

  get(key: Key): AggregatedObject | undefined {
    return this.#objects.get(key);
  }

  /** Returns the objects that name the owner. */
  dependentsOf(uid: string): AggregatedObject[] {
    return [...this.#dependents.get(uid)].flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Returns the key of the object with this uid if it waits for its dependents. */
  awaiting(uid: string): Key | undefined {
    return this.#awaiting.get(uid);
  }

  /** Reports whether an object names the owner with blockOwnerDeletion. */
  blocks(uid: string): boolean {
    return this.dependentsOf(uid).some(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    );
  }

  /**
   * Determines the state of an owner. Only the extension server itself knows that an object does not exist.
   * @param namespace of the dependent; "" for an object without one
   */
  async stateOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Promise<OwnerState> {
    const found = this.#resourceOf(apiVersion, kind);
    if (found === "unserved" || found === "unreadable") return found;
    const isNamespaced = found.scope === "Namespaced";
    if (isNamespaced && namespace === "") return "outOfReach";
    const type = found.type;
    const place = isNamespaced ? namespace : "";
    const known = this.#objects.get(keyOf(type, place, name));
    if (known?.metadata.uid === uid) return awaitsDependents(known.metadata) ? "awaitsDependents" : "present";
    try {
      const { metadata } = await this.#parts.client.get(
        type,
        { name, ...(isNamespaced ? { namespace } : {}) },
        { timeoutMs: getTimeoutMs },
      );
      if (metadata.uid !== uid) return "absent";
      return awaitsDependents(metadata) ? "awaitsDependents" : "present";
    } catch (error) {
      // A server that lacks the whole resource also answers 404, but names no object.
      const isGone = error instanceof StatusError && error.code === 404 && error.status.details?.name === name;
      return isGone && this.#resourceOf(apiVersion, kind) !== "unserved" ? "absent" : "unreadable";
    }
  }

  #resourceOf(
    apiVersion: string,
    kind: string,
  ): { readonly type: ResourceType; readonly scope: DiscoveredResource["scope"] } | "unserved" | "unreadable" {
    const wanted = parseApiVersion(apiVersion);
    const version = this.#parts.versions
      .versions()
      .find(({ group, version: name }) => group === wanted?.group && name === wanted.version);
    if (version === undefined) return "unserved";
    const resource = version.resources.find(({ responseKind }) => responseKind.kind === kind);
    if (version.freshness !== "Current") return "unreadable";
    if (resource === undefined) return "unserved";
    return {
      type: { group: version.group, version: version.version, resource: resource.resource },
      scope: resource.scope,
    };
  }

  #reconcile(): void {
    const versions = this.#parts.versions.versions();
    const wanted = watchedResources(versions);
    for (const [id, informer] of this.#informers) {
      if (wanted.has(id)) continue;
      informer[Symbol.dispose]();
      this.#informers.delete(id);
      this.#forget(id);
    }
    const answering = watchedResources(versions.filter(({ freshness }) => freshness === "Current"));
    for (const [id, type] of wanted) {
      const informer = this.#informers.get(id);
      if (informer !== undefined) {
        if (answering.has(id)) informer.retryNow();
      } else if (this.#informers.size < resourcesMax) {
        this.#informers.set(id, this.#watch(id, type));
      }
    }
  }

  #watch(id: string, type: ResourceType): Informer<KubeObject> {
    const { client, clock, syncFailed, onError } = this.#parts;
    return new Informer({
      client: metadataOnly(client),
      type,
      clock,
      random: Math.random,
      objectsMax: () => Math.min(objectsMax, this.#roomFor(id)),
      added: ({ metadata }) => this.#set(type, metadata),
      updated: ({ metadata }) => this.#set(type, metadata),
      deleted: ({ metadata }) => this.#remove(keyOfObject(type, metadata)),
      onError: (error) => {
        // Ignore a server that is down. Its APIService reports that.
        if (error instanceof StatusError || error instanceof NoAnswerError) syncFailed?.();
        else onError(error);
      },
    });
  }

  /** Returns how many objects a resource may have, given those of the others. */
  #roomFor(id: string): number {
    const { totalMax = totalMaxDefault } = this.#parts;
    return totalMax - (this.#objects.size - (this.#informers.get(id)?.size ?? 0));
  }

  #set(type: ResourceType, metadata: ObjectMeta): void {
    const object = { key: keyOfObject(type, metadata), type, metadata };
    const before = this.#objects.get(object.key);
    this.#unlink(before);
    this.#objects.set(object.key, object);
    if (awaitsDependents(metadata)) this.#awaiting.set(metadata.uid ?? "", object.key);
    for (const { uid } of metadata.ownerReferences ?? []) this.#dependents.add(uid, object.key);
    this.#parts.changed(object, before);
  }

  #remove(key: Key): void {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    this.#unlink(object);
    this.#objects.delete(key);
    this.#parts.gone(object);
  }

  /** Drops the objects of a resource that is no longer watched, because it is unknown whether they still exist. */
  #forget(id: string): void {
    for (const [key, object] of this.#objects) {
      if (!key.startsWith(`${keyPrefix}${id}/`)) continue;
      this.#unlink(object);
      this.#objects.delete(key);
    }
  }

  #unlink(object: AggregatedObject | undefined): void {
    if (object === undefined) return;
    const { uid: own = "", ownerReferences = [] } = object.metadata;
    this.#awaiting.delete(own);
    for (const { uid } of ownerReferences) this.#dependents.delete(uid, object.key);
  }
}

/** Returns the resources to watch by their id, each in one version. */
function watchedResources(versions: readonly DiscoveredVersion[]): ReadonlyMap<string, ResourceType> {
  const found = new Map<string, ResourceType>();
  const taken = new Set<string>();
  for (const { group, version, resources } of versions) {
    for (const { resource, verbs } of resources) {
      const groupResource = `${resource}.${group}`;
      if (taken.has(groupResource) || !neededVerbs.every((verb) => verbs.includes(verb))) continue;
      taken.add(groupResource);
      found.set(idOf({ group, version, resource }), { group, version, resource });
    }
  }
  return found;
}

function idOf(type: ResourceType): string {
  return `${apiVersionOf(type)}/${type.resource}`;
}

function keyOfObject(type: ResourceType, { namespace = "", name = "" }: ObjectMeta): Key {
  return keyOf(type, namespace, name);
}

function keyOf(type: ResourceType, namespace: string, name: string): Key {
  return `${keyPrefix}${idOf(type)}/${namespace}/${name}`;
}

/** Returns a client whose objects have only the metadata that the collector reads. */
function metadataOnly(client: Pick<Client, "list" | "watch">): Pick<Client, "list" | "watch"> {
  return {
    async list(type, options) {
      const { metadata, items } = await client.list(type, options);
      return { metadata, items: items.map(withoutContent) };
    },
    async *watch(type, options) {
      for await (const event of client.watch(type, options)) {
        yield event.type === "BOOKMARK" ? event : { type: event.type, object: withoutContent(event.object) };
      }
    },
  };
}

function withoutContent<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp } = metadata;
  const kept = { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp };
  return { apiVersion, kind, metadata: kept } as unknown as T;
}
