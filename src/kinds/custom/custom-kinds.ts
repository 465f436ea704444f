import type { Entry, Key } from "../../api/entry.ts";
import type { Catalog, CatalogEntry } from "../../registry/catalog.ts";
import type { Store } from "../../storage/store.ts";
import type { ConvertVersions } from "./custom-converter.ts";
import { customEntry } from "./custom-kind.ts";
import { type CustomDefinition, readDefinition } from "./definition.ts";
import type { RuleObserver } from "./rule-observer.ts";

export interface CustomKindsParts {
  readonly catalog: Catalog;
  readonly store: Store;
  /** Key prefix of the stored definitions. */
  readonly prefix: Key;
  /** Converts the objects of a kind between versions as its definition says. */
  readonly convertBy: (definition: CustomDefinition) => ConvertVersions;
  readonly ruleObserver?: RuleObserver | undefined;
  /** Receives what is wrong with a definition that cannot be served. It disturbs no other. */
  readonly onError: (error: unknown) => void;
}

interface Served {
  readonly entry: CatalogEntry;
  readonly fingerprint: string;
  readonly isTerminating: boolean;
}

/**
 * Keeps the catalog as the stored definitions say. It follows the store itself, so that every replica serves a kind from
 * the log entry on that establishes it, and a client that has read of it anywhere finds it everywhere.
 */
export class CustomKinds implements Disposable {
  readonly #parts: CustomKindsParts;
  /** By key of the definition. */
  readonly #served = new Map<Key, Served>();
  readonly #following: Disposable;

  constructor(parts: CustomKindsParts) {
    this.#parts = parts;
    const { store, prefix } = parts;
    this.#following = store.subscribe((events) => {
      for (const { type, entry } of events) {
        if (!entry.key.startsWith(prefix)) continue;
        if (type === "DELETED") this.#remove(entry.key);
        else this.#follow(entry);
      }
    });
    for (const entry of store.scan(prefix)) this.#follow(entry);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  #follow(entry: Entry): void {
    try {
      this.#serve(entry.key, readDefinition(entry));
    } catch (error) {
      this.#parts.onError(error);
    }
  }

  /** A change of the conditions alone ends no watch. */
  #serve(key: Key, definition: CustomDefinition): void {
    const { catalog, convertBy, ruleObserver } = this.#parts;
    const { fingerprint, isTerminating } = definition;
    const before = this.#served.get(key);
    if (!definition.isEstablished) return this.#remove(key);
    if (before?.fingerprint === fingerprint && before.isTerminating === isTerminating) return;
    const entry = this.#servable(customEntry(definition, convertBy(definition), ruleObserver), before);
    if (entry === undefined) return this.#remove(key);
    if (before?.fingerprint === fingerprint) {
      catalog.replace(before.entry, entry);
    } else {
      this.#remove(key);
      catalog.add(entry);
    }
    this.#served.set(key, { entry, fingerprint, isTerminating });
  }

  #remove(key: Key): void {
    const served = this.#served.get(key);
    if (served === undefined) return;
    this.#served.delete(key);
    this.#parts.catalog.remove(served.entry);
  }

  /** Built-in kinds come first: a definition of the same resource or kind is served in its other versions only. */
  #servable(entry: CatalogEntry | undefined, before: Served | undefined): CatalogEntry | undefined {
    const { catalog } = this.#parts;
    if (entry?.stored === undefined) return undefined;
    const own = before?.entry;
    const holder = catalog.findPrefix(entry.stored.keyPrefix);
    if (holder !== undefined && holder !== own?.stored) return undefined;
    const isFree = (found: unknown) => found === undefined || own?.served.some((info) => info === found) === true;
    const served = entry.served.filter(
      (info) => isFree(catalog.find(info.group, info.version, info.resource)) && isFree(catalog.findKind(info)),
    );
    return { ...entry, served };
  }
}
