import { copyOfBytes } from "../../../api/codec/byte-text.ts";
import type { Entry, Key } from "../../../api/entry.ts";
import { type GroupResource, groupResourceText } from "../../../api/gvk.ts";
import { atMost } from "../../../process/at-most.ts";
import type { Clock } from "../../../process/clock.ts";
import { isEncrypted } from "../../encryption/identity.ts";
import { isStale, seal, unencrypted } from "../../encryption/resource-cipher.ts";
import type { ResourceTransformer, ResourceTransformers } from "../../encryption/resource-transformers.ts";
import type { ValueContext } from "../../encryption/transformer.ts";
import { UndecryptableEntryError } from "../../store.ts";

/** Time for which a reader waits for a key service. */
const answerMsMax = 5_000;

/** Place of a value. */
export interface ValuePlace {
  readonly key: Key;
  /** Key in etcd, which ciphers authenticate. */
  readonly etcdKey: string;
  /** Undefined for records, which are never encrypted. */
  readonly resource: GroupResource | undefined;
}

/** Encrypts and decrypts values exactly as kube-apiserver does with the same configuration. */
export class ValueCipher {
  readonly #clock: Clock;
  #transformers: ResourceTransformers;
  /** Encrypted values of entries, to find out whether they would be encrypted in another way now. */
  readonly #sealed = new WeakMap<Entry, Uint8Array>();

  constructor(transformers: ResourceTransformers, clock: Clock) {
    this.#transformers = transformers;
    this.#clock = clock;
  }

  /** Uses other transformers from now on. */
  use(transformers: ResourceTransformers): void {
    this.#transformers = transformers;
  }

  /** @throws EncryptionFailedError */
  seal(place: ValuePlace, plain: Uint8Array): Uint8Array {
    const rule = this.#ruleOf(place);
    return rule.encrypts ? seal(rule, plain, contextOf(place)) : plain;
  }

  /**
   * Returns the plain value. Returns a promise if a key service has to be asked.
   * @throws UndecryptableEntryError, also as a rejection
   */
  open(place: ValuePlace, value: Uint8Array): Uint8Array | Promise<Uint8Array> {
    if (!isEncrypted(value)) return value;
    const prepared = this.#ruleOf(place).transformer.prepare?.(value);
    if (prepared === undefined) return this.#openNow(place, value);
    return atMost(this.#clock, answerMsMax, prepared).then(() => this.#openNow(place, value));
  }

  /** Remembers the value from which an entry was made. */
  remember(entry: Entry, value: Uint8Array): void {
    if (isEncrypted(value)) this.#sealed.set(entry, copyOfBytes(value, 0));
  }

  /** Reports whether a write would encrypt an entry in another way. */
  isStale(entry: Entry, place: ValuePlace): boolean {
    const rule = this.#ruleOf(place);
    const sealed = this.#sealed.get(entry);
    return sealed === undefined ? rule.encrypts : isStale(rule, sealed, contextOf(place));
  }

  #openNow(place: ValuePlace, value: Uint8Array): Uint8Array {
    try {
      return this.#ruleOf(place).transformer.fromStorage(value, contextOf(place)).plain;
    } catch (error) {
      throw new UndecryptableEntryError(place.key, (error as Error).message);
    }
  }

  #ruleOf({ resource }: ValuePlace): ResourceTransformer {
    if (resource === undefined || this.#transformers.described.length === 0) return unencrypted;
    return this.#transformers.of(resource) ?? unencrypted;
  }
}

function contextOf({ etcdKey, resource }: ValuePlace): ValueContext {
  return { key: etcdKey, resource: resource === undefined ? "" : groupResourceText(resource) };
}
