import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import { Backoff } from "./backoff.ts";
import type { Client, ResourceType, Selector, WatchEvent } from "./client.ts";
import { isExpired, listPages } from "./list-pages.ts";

/** Shortest time after which the server ends a watch; the longest is twice that. The next watch resumes where it ended. */
const watchSecondsMin = 300;
const retryMsMin = 500;
const retryMsMax = 30_000;
/** Duration of a watch after which the next failure counts as the first. */
const lastingMs = 10_000;
/** Number of objects that an informer keeps. A larger collection is reported as a failure and tried again. */
const objectsMaxDefault = 1_000_000;

/** Callbacks for changes, in the server's order for each object. A new list combines the changes of an object into one. */
export interface InformerHandlers<T extends KubeObject> {
  added?(object: T): void;
  updated?(object: T, old: T): void;
  /** Gets the last state that was seen. */
  deleted?(object: T): void;
}

export interface InformerOptions<T extends KubeObject> extends InformerHandlers<T> {
  readonly client: Pick<Client, "list" | "watch">;
  readonly type: ResourceType<T>;
  /** Selector of the kept objects; all of the type by default. */
  readonly selector?: Selector | undefined;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Prepares an object in place before it is kept. */
  readonly prepare?: ((object: T) => void) | undefined;
  /** Returns the maximum number of objects at the moment; a million by default. */
  readonly objectsMax?: (() => number) | undefined;
  /** Receives failures, each followed by another attempt, and errors that handlers throw. */
  onError(error: unknown): void;
}

/**
 * An up-to-date copy of a collection. It lists, watches from there, and resumes from the last resourceVersion, bookmarks
 * included, when a watch ends. When that history is gone, it lists again and reports the differences. The objects are
 * shared and must not be changed.
 */
export class Informer<T extends KubeObject> implements Disposable {
  readonly #options: InformerOptions<T>;
  readonly #stop = new AbortController();
  readonly #objects = new Map<string, T>();
  readonly #backoff: Backoff;
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;
  /** Defined during a pause. */
  #endPause: (() => void) | undefined;
  /** Whether the next list requests everything in one response instead of pages. */
  #listsWhole = false;
  /** Undefined if it has to list. */
  #resourceVersion: string | undefined;

  /** Starts at once. */
  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#backoff = new Backoff(retryMsMin, retryMsMax, options.random);
    void this.#run();
  }

  /** Reports whether the collection has been listed. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Resolves when the collection has been listed and the handlers have run. Never resolves after the end. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(name: string, namespace = ""): T | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  objects(): Iterable<T> {
    return this.#objects.values();
  }

  /** Ends the pause after a failure, if there is one. For callers that learn that the server answers again. */
  retryNow(): void {
    this.#backoff.reset();
    this.#endPause?.();
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#endPause?.();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === undefined) await this.#list();
        await this.#watch();
      } catch (error) {
        if (signal.aborted) return;
        // A list that expires again is repeated only after a pause.
        if (isExpired(error)) this.#beginAnew();
        else this.#options.onError(error);
        await this.#pause(Math.max(this.#backoff.next(), retryAfterMs(error)));
      }
    }
  }

  #beginAnew(): void {
    // Pages expire each time if the collection changes faster than they are read. A single answer does not.
    if (this.#resourceVersion === undefined) this.#listsWhole = true;
    this.#resourceVersion = undefined;
  }

  async #list(): Promise<void> {
    const { client, type, selector, prepare } = this.#options;
    const { signal } = this.#stop;
    const listed = new Map<string, T>();
    let resourceVersion = "";
    const options = { ...selector, signal, ...(this.#listsWhole ? { limit: 0 } : {}) };
    for await (const { items, metadata } of listPages(client, type, options)) {
      resourceVersion ||= metadata.resourceVersion;
      this.#requireRoom(listed.size + items.length);
      for (const object of items) {
        prepare?.(object);
        listed.set(keyOfObject(object), object);
      }
    }
    this.#listsWhole = false;
    for (const [key, object] of this.#objects) if (!listed.has(key)) this.#remove(key, object);
    for (const [key, object] of listed) this.#set(key, object);
    this.#resourceVersion = resourceVersion;
    this.#isSynced = true;
    this.#synced.resolve();
  }

  /** Returns when the server ends the watch. */
  async #watch(): Promise<void> {
    const { client, type, selector, clock, random } = this.#options;
    const { signal } = this.#stop;
    const begunMs = clock.steadyMs();
    const timeoutSeconds = Math.floor(watchSecondsMin * (1 + random()));
    const resourceVersion = this.#resourceVersion;
    const options = { ...selector, resourceVersion, allowWatchBookmarks: true, timeoutSeconds, signal };
    let events = 0;
    try {
      for await (const event of client.watch(type, options)) {
        events++;
        this.#take(event);
      }
    } finally {
      if (events > 0 || clock.steadyMs() - begunMs >= lastingMs) this.#backoff.reset();
    }
    // There is a pause even if the server ends every watch at once.
    if (events === 0 && clock.steadyMs() - begunMs < lastingMs) await this.#pause(this.#backoff.next());
  }

  #take(event: WatchEvent<T>): void {
    if (event.type === "BOOKMARK") {
      this.#resourceVersion = event.resourceVersion;
      return;
    }
    const { object, type } = event;
    this.#options.prepare?.(object);
    const key = keyOfObject(object);
    if (type === "DELETED") this.#remove(key, object);
    else this.#set(key, object);
    this.#resourceVersion = object.metadata.resourceVersion;
  }

  #set(key: string, object: T): void {
    const old = this.#objects.get(key);
    const { uid, resourceVersion } = object.metadata;
    if (old !== undefined && old.metadata.uid !== uid) {
      this.#remove(key, old);
      return this.#set(key, object);
    }
    if (old?.metadata.resourceVersion === resourceVersion) return;
    if (old === undefined) this.#requireRoom(this.#objects.size + 1);
    this.#objects.set(key, object);
    this.#tell((handlers) => (old === undefined ? handlers.added?.(object) : handlers.updated?.(object, old)));
  }

  /** @throws Error for too many objects. They are then listed again. */
  #requireRoom(count: number): void {
    const { objectsMax, type } = this.#options;
    const max = objectsMax?.() ?? objectsMaxDefault;
    if (count <= max) return;
    this.#resourceVersion = undefined;
    throw new Error(`${type.resource}: there are more than ${max} objects`);
  }

  #remove(key: string, last: T): void {
    if (this.#objects.delete(key)) this.#tell((handlers) => handlers.deleted?.(last));
  }

  #tell(call: (handlers: InformerHandlers<T>) => void): void {
    try {
      call(this.#options);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #pause(waitMs: number): Promise<void> {
    const { clock } = this.#options;
    if (this.#stop.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = clock.after(waitMs, resolve);
    this.#endPause = resolve;
    await promise;
    this.#endPause = undefined;
  }
}

function retryAfterMs(error: unknown): number {
  return error instanceof StatusError ? (error.status.details?.retryAfterSeconds ?? 0) * 1_000 : 0;
}

function keyOfObject({ metadata: { namespace = "", name = "" } }: KubeObject): string {
  return keyOf(namespace, name);
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
