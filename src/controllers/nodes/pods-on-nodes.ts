import type { Entry, Key } from "../../api/entry.ts";
import { SetMap } from "../../process/set-map.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store, StoreEvent } from "../../storage/store.ts";

export interface PodsOnNodesParts {
  readonly pods: Registry;
  readonly store: Store;
}

/** The keys of the pods on each node. They come from the index of the entries, so no pod is decoded. */
export class PodsOnNodes implements Disposable {
  readonly #byNode = new SetMap<string, Key>();
  readonly #following: Disposable;
  readonly #listeners: ((event: StoreEvent) => void)[] = [];

  constructor({ pods, store }: PodsOnNodesParts) {
    const { keyPrefix } = pods.info;
    for (const entry of store.scan(keyPrefix)) this.#add(entry);
    this.#following = store.subscribe((events) => {
      for (const event of events) if (event.entry.key.startsWith(keyPrefix)) this.#receive(event);
    });
  }

  /** Calls the listener for every change of a pod, after it is visible here. */
  follow(listener: (event: StoreEvent) => void): void {
    this.#listeners.push(listener);
  }

  on(node: string): ReadonlySet<Key> {
    return this.#byNode.get(node);
  }

  /** Names of nodes in pods, whether or not the nodes exist. */
  nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#listeners.length = 0;
  }

  #receive(event: StoreEvent): void {
    const { type, entry, previous } = event;
    const isMoved = type === "DELETED" || previous === undefined || nodeOf(previous) !== nodeOf(entry);
    if (isMoved && previous !== undefined) this.#remove(previous);
    if (isMoved && type !== "DELETED") this.#add(entry);
    for (const listener of this.#listeners) listener(event);
  }

  #add(entry: Entry): void {
    const node = nodeOf(entry);
    if (node !== "") this.#byNode.add(node, entry.key);
  }

  #remove(entry: Entry): void {
    this.#byNode.delete(nodeOf(entry), entry.key);
  }
}

/** Returns the node to which a pod is bound; empty for none. */
export function nodeOf({ index }: Entry): string {
  return index.fields?.["spec.nodeName"] ?? "";
}
