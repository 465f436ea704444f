import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store, StoreEvent } from "../../storage/store.ts";
import { type NodeState, nodeStateOf } from "./node-state.ts";

export interface ClusterNodesParts {
  readonly nodes: Registry;
  readonly store: Store;
}

interface Known {
  readonly entry: Entry;
  state?: NodeState;
}

/** The nodes of the cluster. A changed node is decoded when it is first read. */
export class ClusterNodes implements Disposable {
  readonly #nodes: Registry;
  readonly #known = new Map<string, Known>();
  readonly #following: Disposable;
  readonly #listeners: ((name: string, type: StoreEvent["type"]) => void)[] = [];

  constructor({ nodes, store }: ClusterNodesParts) {
    const { keyPrefix } = nodes.info;
    this.#nodes = nodes;
    for (const entry of store.scan(keyPrefix)) this.#known.set(entry.key.slice(keyPrefix.length), { entry });
    this.#following = store.subscribe((events) => {
      for (const event of events) if (event.entry.key.startsWith(keyPrefix)) this.#receive(event);
    });
  }

  /** Calls the listener for every change of a node, after it is visible here. */
  follow(listener: (name: string, type: StoreEvent["type"]) => void): void {
    this.#listeners.push(listener);
  }

  get size(): number {
    return this.#known.size;
  }

  names(): Iterable<string> {
    return this.#known.keys();
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  get(name: string): NodeState | undefined {
    const known = this.#known.get(name);
    if (known === undefined) return undefined;
    known.state ??= nodeStateOf(decodeEntry(known.entry, this.#nodes.info) as Node);
    return known.state;
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#listeners.length = 0;
  }

  #receive({ type, entry }: StoreEvent): void {
    const name = entry.key.slice(this.#nodes.info.keyPrefix.length);
    if (type === "DELETED") this.#known.delete(name);
    else this.#known.set(name, { entry });
    for (const listener of this.#listeners) listener(name, type);
  }
}
