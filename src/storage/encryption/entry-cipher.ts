import type { Entry, Key } from "../../api/entry.ts";
import { type GroupResource, groupResourceText } from "../../api/gvk.ts";
import { IndexCache } from "../mvcc/index-text.ts";
import { type Operation, UndecryptableEntryError } from "../store.ts";
import { isEncrypted } from "./identity.ts";
import { isStale, seal, unencrypted } from "./resource-cipher.ts";
import type { ResourceTransformer, ResourceTransformers } from "./resource-transformers.ts";
import { ciphertextOf, packObject, sealedBody, sealedIndex, unpackObject } from "./sealed-object.ts";
import type { ValueContext } from "./transformer.ts";

/** Finds the resource to which the object of a key belongs; undefined for records that are not objects. */
export type ResourceFinder = (key: Key) => GroupResource | undefined;

/** Encrypts objects and decrypts entries. The plain form of an entry lives as long as the entry. */
export class EntryCipher {
  readonly #resourceOf: ResourceFinder;
  readonly #indexes = new IndexCache();
  /** Plain forms of encrypted entries, and the reverse. */
  readonly #plain = new WeakMap<Entry, Entry>();
  readonly #sealed = new WeakMap<Entry, Entry>();
  #transformers: ResourceTransformers;

  constructor(transformers: ResourceTransformers, resourceOf: ResourceFinder) {
    this.#transformers = transformers;
    this.#resourceOf = resourceOf;
  }

  /** Uses other transformers from now on. Entries that are open remain so. */
  use(transformers: ResourceTransformers): void {
    this.#transformers = transformers;
  }

  /** Returns the plain form of an entry, or the reason why there is none. */
  open(entry: Entry): Entry | UndecryptableEntryError {
    if (!isEncrypted(entry.body)) return entry;
    const known = this.#plain.get(entry);
    if (known !== undefined) return known;
    const { key, body, revision } = entry;
    // This asks for a new seed. The entry can be opened when the key service has answered.
    if (this.prepare(entry) !== undefined) {
      return new UndecryptableEntryError(key, "failed to decrypt DEK, error: the key service has not answered yet");
    }
    try {
      const { transformer } = this.#ruleOf(key);
      const opened = transformer.fromStorage(ciphertextOf(body, revision), this.#contextOf(key));
      const plain = unpackObject(opened.plain, entry, this.#indexes);
      this.#plain.set(entry, plain);
      this.#sealed.set(plain, entry);
      return plain;
    } catch (error) {
      return new UndecryptableEntryError(key, (error as Error).message);
    }
  }

  /**
   * Asks the key service for what opening an entry needs. Returns a promise that resolves when it has answered, the same
   * one for all that need the same answer; undefined if the entry can be opened now or not at all.
   */
  prepare(entry: Entry): Promise<void> | undefined {
    if (!isEncrypted(entry.body) || this.#plain.has(entry)) return undefined;
    return this.#ruleOf(entry.key).transformer.prepare?.(ciphertextOf(entry.body, entry.revision));
  }

  /**
   * Returns the operation in the form that the store sees.
   * @param before the state that a deletion ends
   * @throws EncryptionFailedError
   */
  seal(key: Key, operation: Operation, before: Entry | undefined): Operation {
    const rule = this.#ruleOf(key);
    if (!rule.encrypts) return operation;
    const { index, body } =
      operation.kind === "put" ? operation : { index: before?.index ?? sealedIndex, body: operation.last };
    const sealed = sealedBody(seal(rule, packObject(index, body), this.#contextOf(key)));
    return operation.kind === "put"
      ? { kind: "put", index: sealedIndex, body: sealed }
      : { kind: "delete", last: sealed };
  }

  /** Reports whether an open entry is encrypted in another way than a write would encrypt it now. */
  isStale(entry: Entry): boolean {
    const rule = this.#ruleOf(entry.key);
    const sealed = this.#sealed.get(entry);
    if (sealed === undefined) return rule.encrypts;
    return isStale(rule, ciphertextOf(sealed.body, sealed.revision), this.#contextOf(entry.key));
  }

  #ruleOf(key: Key): ResourceTransformer {
    if (this.#transformers.described.length === 0) return unencrypted;
    const resource = this.#resourceOf(key);
    return (resource && this.#transformers.of(resource)) ?? unencrypted;
  }

  #contextOf(key: Key): ValueContext {
    const resource = this.#resourceOf(key);
    return { key, resource: resource === undefined ? "" : groupResourceText(resource) };
  }
}
