import type { Clock } from "../api/clock.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { systemUser } from "../authentication/system-user.ts";
import type { Registry, WriteContext } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";

const retryMs = 1_000;

const context: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };

export interface NamespaceObjectsParts {
  /** The name of the object that every namespace has. */
  readonly name: string;
  /** Of its resource. */
  readonly objects: Registry;
  readonly namespaces: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** Makes the object; when there is one already, changes it to what it has to be. */
  wanted(namespace: string, current: KubeObject | undefined): KubeObject;
}

/**
 * Keeps one object in every namespace that is not being deleted, and makes it again when it goes or is changed. The set of
 * waiting names is bounded by the number of namespaces; they are worked off one at a time.
 */
export class NamespaceObjects {
  readonly #parts: NamespaceObjectsParts;
  readonly #waiting = new Set<string>();
  readonly #timers = new Set<Disposable>();
  #running = false;
  #stopped = false;

  constructor(parts: NamespaceObjectsParts) {
    this.#parts = parts;
  }

  /** Looks after what is there, then follows the store. */
  start(): Disposable {
    const { store, namespaces } = this.#parts;
    const { keyPrefix } = namespaces.info;
    for (const { key } of store.scan(keyPrefix)) this.#consider(key.slice(keyPrefix.length));
    const subscription = store.subscribe((events) => this.#receive(events));
    return {
      [Symbol.dispose]: () => {
        this.#stopped = true;
        subscription[Symbol.dispose]();
        for (const timer of this.#timers) timer[Symbol.dispose]();
      },
    };
  }

  #receive(events: readonly StoreEvent[]): void {
    const { namespaces, objects, name } = this.#parts;
    const ofNamespace = namespaces.info.keyPrefix;
    const ofObject = objects.info.keyPrefix;
    const suffix = `/${name}`;
    for (const { entry, type } of events) {
      const { key } = entry;
      if (key.startsWith(ofNamespace) && type !== "DELETED") this.#consider(key.slice(ofNamespace.length));
      else if (type !== "ADDED" && key.startsWith(ofObject) && key.endsWith(suffix)) {
        this.#consider(key.slice(ofObject.length, -suffix.length));
      }
    }
  }

  #consider(namespace: string): void {
    this.#waiting.add(namespace);
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // Off the store's notification: the listener must return at once.
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    for (const namespace of this.#waiting) {
      if (this.#stopped) break;
      this.#waiting.delete(namespace);
      try {
        await this.#ensure(namespace);
      } catch (error) {
        if (!(error instanceof StatusError) && !this.#stopped) this.#parts.onError(error);
        this.#retry(namespace);
      }
    }
    this.#running = false;
  }

  async #ensure(namespace: string): Promise<void> {
    const { namespaces, objects, name, wanted } = this.#parts;
    const owner = namespaces.current("", namespace);
    if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return;
    const current = objects.current(namespace, name);
    if (current === undefined) await objects.create(wanted(namespace, undefined), namespace, context);
    else if (current.metadata.deletionTimestamp === undefined) {
      await objects.update(namespace, name, (old) => wanted(namespace, old), context, { reapplies: true });
    }
  }

  #retry(namespace: string): void {
    if (this.#stopped) return;
    const timer = this.#parts.clock.after(retryMs, () => {
      this.#timers.delete(timer);
      this.#consider(namespace);
    });
    this.#timers.add(timer);
  }
}
