import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";
import type { Store } from "../storage/store.ts";
import { followChanges, followObjects } from "./follow-objects.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

/** Receives the code of the answer, and the duration of each sync of a namespace. */
export type SyncObserver = (code: number, seconds: number) => void;

export interface NamespaceObjectsParts extends QueueSource {
  /** The object's name, the same in every namespace. */
  readonly name: string;
  readonly queueName: string;
  /** The registry of its resource. */
  readonly objects: Registry;
  readonly namespaces: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly observer?: SyncObserver | undefined;
  readonly onError: (error: unknown) => void;
  /** Returns the object to create, or the existing one with the required changes. */
  wanted(namespace: string, current: KubeObject | undefined): KubeObject;
  /** Calls `run` when the wanted object may have changed in all namespaces. */
  follow?(run: () => void): Disposable;
}

/** Number of objects created at a time. */
const workers = 4;

/** Keeps one object in every namespace that is not being deleted, and restores it when it is deleted or changed. */
export class NamespaceObjects {
  readonly #parts: NamespaceObjectsParts;

  constructor(parts: NamespaceObjectsParts) {
    this.#parts = parts;
  }

  /** Checks the existing namespaces, then follows the store. */
  start(): Disposable {
    const { store, namespaces, objects, name, queueName, clock, observeQueue, onError } = this.#parts;
    const running = new DisposableStack();
    const queue = running.use(
      new WorkQueue({
        name: queueName,
        clock,
        observeQueue,
        onError,
        workers,
        work: (namespace) => this.#sync(namespace),
      }),
    );
    const { keyPrefix } = namespaces.info;
    const considerNamespace = (key: string) => queue.add(key.slice(keyPrefix.length));
    running.use(followObjects(store, keyPrefix, (key, type) => type !== "DELETED" && considerNamespace(key)));
    const ofObjects = objects.info.keyPrefix;
    const suffix = `/${name}`;
    running.use(
      followChanges(store, ofObjects, (key, type) => {
        if (type !== "ADDED" && key.endsWith(suffix)) queue.add(key.slice(ofObjects.length, -suffix.length));
      }),
    );
    const { follow } = this.#parts;
    if (follow !== undefined) {
      running.use(follow(() => store.scan(keyPrefix).forEach(({ key }) => considerNamespace(key))));
    }
    return running;
  }

  async #sync(namespace: string): Promise<void> {
    const { clock, observer } = this.#parts;
    const startedMs = clock.steadyMs();
    let code = 200;
    try {
      await this.#ensure(namespace);
    } catch (error) {
      code = error instanceof StatusError ? error.code : 500;
      throw error;
    } finally {
      observer?.(code, (clock.steadyMs() - startedMs) / 1_000);
    }
  }

  async #ensure(namespace: string): Promise<void> {
    const { namespaces, objects, name, wanted } = this.#parts;
    const owner = namespaces.current("", namespace);
    if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return;
    const current = objects.current(namespace, name);
    if (current === undefined) await objects.create(wanted(namespace, undefined), namespace, serverContext);
    else if (current.metadata.deletionTimestamp === undefined) {
      await objects.update(namespace, name, (old) => wanted(namespace, old), serverContext, { reapplies: true });
    }
  }
}
