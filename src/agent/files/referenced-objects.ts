import type { KubeObject } from "../../api/object-meta.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { Informer } from "../../client/informer.ts";
import type { Clock } from "../../process/clock.ts";
import { requireList } from "./first-list.ts";

/** Time after its last use after which an object is no longer watched. */
const idleMsMax = 5 * 60_000;
const sweepMs = 60_000;
/** Number of objects that are watched. Beyond it, those that have not been used for the longest time go first. */
const objectsMax = 10_000;

export interface ReferencedObjectsParts<T extends KubeObject> {
  readonly client: Pick<Client, "list" | "watch">;
  readonly type: ResourceType<T>;
  /** Name of the kind in messages, such as `configmap`. */
  readonly singular: string;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

interface Watched<T extends KubeObject> {
  readonly informer: Informer<T>;
  usedAtMs: number;
}

/**
 * The objects of one kind that the pods of a node refer to. Each is watched alone, by its name, because a node may see
 * only those that its pods need.
 */
export class ReferencedObjects<T extends KubeObject> implements Disposable {
  readonly #parts: ReferencedObjectsParts<T>;
  /** By namespace and name, the one that was used last at the end. */
  readonly #watched = new Map<string, Watched<T>>();
  readonly #sweep: Disposable;

  constructor(parts: ReferencedObjectsParts<T>) {
    this.#parts = parts;
    this.#sweep = parts.clock.every(sweepMs, () => this.#dropIdle());
  }

  /** Returns the newest known state; undefined if the object does not exist. @throws Error if the server does not tell */
  async get(namespace: string, name: string): Promise<T | undefined> {
    const { clock, singular } = this.#parts;
    const { informer } = this.#use(namespace, name);
    await requireList(informer, clock, `failed to sync ${singular} cache: timed out waiting for the condition`);
    return informer.get(name, namespace);
  }

  [Symbol.dispose](): void {
    this.#sweep[Symbol.dispose]();
    for (const { informer } of this.#watched.values()) informer[Symbol.dispose]();
    this.#watched.clear();
  }

  #use(namespace: string, name: string): Watched<T> {
    const key = `${namespace}/${name}`;
    const watched = this.#watched.get(key) ?? { informer: this.#watch(namespace, name), usedAtMs: 0 };
    watched.usedAtMs = this.#parts.clock.steadyMs();
    this.#watched.delete(key);
    this.#watched.set(key, watched);
    const [oldest] = this.#watched.keys();
    if (this.#watched.size > objectsMax && oldest !== undefined) this.#drop(oldest);
    return watched;
  }

  #watch(namespace: string, name: string): Informer<T> {
    const { client, type, clock, random, onError } = this.#parts;
    const stopIfImmutable = (object: T) => {
      // An object that cannot change is kept without a watch.
      if ((object as { readonly immutable?: boolean }).immutable === true) informer[Symbol.dispose]();
    };
    const informer: Informer<T> = new Informer<T>({
      client,
      type,
      selector: { namespace, fieldSelector: `metadata.name=${name}` },
      clock,
      random,
      onError,
      added: stopIfImmutable,
      updated: stopIfImmutable,
    });
    return informer;
  }

  #dropIdle(): void {
    const steadyMs = this.#parts.clock.steadyMs();
    for (const [key, { usedAtMs }] of this.#watched) if (steadyMs - usedAtMs >= idleMsMax) this.#drop(key);
  }

  #drop(key: string): void {
    this.#watched.get(key)?.informer[Symbol.dispose]();
    this.#watched.delete(key);
  }
}
