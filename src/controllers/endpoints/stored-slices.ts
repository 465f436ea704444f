import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store, StoreEvent } from "../../storage/store.ts";
import { managedByLabel, serviceNameLabel } from "./slice-plan.ts";

/** Finds the slices of one manager in the store. */
export class StoredSlices {
  readonly #registry: Registry;
  readonly #store: Store;
  readonly #manager: string;

  /** @param manager the label value of its slices */
  constructor(registry: Registry, store: Store, manager: string) {
    this.#registry = registry;
    this.#store = store;
    this.#manager = manager;
  }

  /** Returns the slices of a service that are not being deleted, ordered by name. */
  of(namespace: string, service: string): EndpointSlice[] {
    const { info } = this.#registry;
    return this.#store
      .scan(`${info.keyPrefix}${namespace}/`)
      .filter((entry) => this.#isManaged(entry) && entry.index.labels?.[serviceNameLabel] === service)
      .map((entry) => decodeEntry(entry, info) as EndpointSlice)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Reports `<namespace>/<name>` of the services whose slices were changed, created or removed. */
  follow(changed: (service: string) => void): Disposable {
    const { keyPrefix } = this.#registry.info;
    const receive = (events: readonly StoreEvent[]) => {
      for (const { entry, previous } of events) {
        if (!entry.key.startsWith(keyPrefix)) continue;
        const managed = [entry, previous]
          .filter((state) => state !== undefined)
          .filter((state) => this.#isManaged(state));
        const names = new Set(managed.map(({ index }) => index.labels?.[serviceNameLabel] ?? ""));
        const namespace = entry.key.slice(keyPrefix.length, entry.key.indexOf("/", keyPrefix.length));
        for (const name of names) if (name !== "") changed(`${namespace}/${name}`);
      }
    };
    return this.#store.subscribe(receive);
  }

  #isManaged({ index }: Entry): boolean {
    return index.labels?.[managedByLabel] === this.#manager;
  }
}
