import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../api/entry.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import { managedByLabel, serviceNameLabel } from "../../kinds/discovery/endpoint-slice-labels.ts";
import { SetMap } from "../../process/set-map.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";

/** The stored slices of one manager, by service. */
export class StoredSlices {
  readonly #registry: Registry;
  readonly #store: Store;
  readonly #manager: string;
  /** Keys of the slices by `<namespace>/<name>` of the service. */
  readonly #keys = new SetMap<string, Key>();

  /** @param manager the label value of its slices */
  constructor(registry: Registry, store: Store, manager: string) {
    this.#registry = registry;
    this.#store = store;
    this.#manager = manager;
  }

  /** Returns the slices of a service that are not being deleted, ordered by name. */
  of(namespace: string, service: string): EndpointSlice[] {
    return [...this.#keys.get(`${namespace}/${service}`)]
      .toSorted()
      .flatMap((key) => this.#store.get(key) ?? [])
      .map((entry) => decodeEntry(entry, this.#registry.info) as EndpointSlice)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Knows the slices from now on. Reports `<namespace>/<name>` of the services whose slices change. */
  follow(changed: (service: string) => void): Disposable {
    const { keyPrefix } = this.#registry.info;
    for (const entry of this.#store.scan(keyPrefix)) this.#add(this.#serviceOf(entry), entry.key);
    return this.#store.subscribe((events) => {
      for (const { type, entry, previous } of events) {
        if (!entry.key.startsWith(keyPrefix)) continue;
        const [before, after] = [this.#serviceOf(previous), this.#serviceOf(entry)];
        if (before !== undefined) this.#keys.delete(before, entry.key);
        if (type !== "DELETED") this.#add(after, entry.key);
        for (const service of new Set([after, before])) if (service !== undefined) changed(service);
      }
    });
  }

  #add(service: string | undefined, key: Key): void {
    if (service !== undefined) this.#keys.add(service, key);
  }

  /** Returns the service of a slice; undefined if the slice has none or another manager. */
  #serviceOf(entry: Entry | undefined): string | undefined {
    const { [managedByLabel]: manager, [serviceNameLabel]: name = "" } = entry?.index.labels ?? {};
    if (entry === undefined || manager !== this.#manager || name === "") return undefined;
    const { keyPrefix } = this.#registry.info;
    return `${entry.key.slice(keyPrefix.length, entry.key.indexOf("/", keyPrefix.length))}/${name}`;
  }
}
