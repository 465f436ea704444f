import type { Entry, Key, ObjectIndex } from "../../../api/entry.ts";
import type { Clock } from "../../../process/clock.ts";
import type { ResourceTransformers } from "../../encryption/resource-transformers.ts";
import { masterLeasePrefix } from "../../record-prefixes.ts";
import { fillGap } from "../../resource-version-gap.ts";
import { CorruptEntryError, type ProposedBody } from "../../store.ts";
import { rootPrefix } from "../root-prefix.ts";
import type { EtcdLayout, KeyRevisions } from "./layout.ts";
import { ValueCipher, type ValuePlace } from "./value-cipher.ts";
import { type Placed, ValueForms, type ValueFormsParts } from "./value-forms.ts";

export const eventPrefix: Key = "/registry/events/";
/** Time after which a server that does not renew its master lease counts as stopped. */
const masterLeaseTtlSeconds = 15;

export interface KubernetesLayoutOptions extends ValueFormsParts {
  /** Prefix of the keys in etcd, such as `/registry`. */
  readonly prefix: string;
  /** Reports whether this etcd keeps the object of a key; by default all. */
  readonly holds?: ((key: Key) => boolean) | undefined;
  readonly eventTtlSeconds: number;
  readonly transformers: ResourceTransformers;
  readonly clock: Clock;
}

/**
 * The layout of kube-apiserver. A key of the store is upstream's, apart from the prefix. A value is, byte for byte, the
 * one that kube-apiserver would write for the object.
 */
export class KubernetesLayout implements EtcdLayout {
  readonly #prefix: string;
  readonly #holds: (key: Key) => boolean;
  readonly #forms: ValueForms;
  readonly #cipher: ValueCipher;
  readonly #eventTtlSeconds: number;

  constructor(options: KubernetesLayoutOptions) {
    const { prefix, eventTtlSeconds, transformers, clock, holds = () => true } = options;
    this.#holds = holds;
    this.#prefix = normalPrefix(prefix);
    this.#eventTtlSeconds = eventTtlSeconds;
    this.#forms = new ValueForms(options);
    this.#cipher = new ValueCipher(transformers, clock);
  }

  /** Uses other transformers from now on. Read what could not be decrypted again afterwards. */
  useTransformers(transformers: ResourceTransformers): void {
    this.#cipher.use(transformers);
  }

  etcdKey(key: Key): string {
    return this.#prefix + key.slice(rootPrefix.length);
  }

  keyOf(etcdKey: string): Key | undefined {
    if (!etcdKey.startsWith(this.#prefix)) return undefined;
    const key = rootPrefix + etcdKey.slice(this.#prefix.length);
    return this.#holds(key) && this.#forms.at(key) !== undefined ? key : undefined;
  }

  valueOf(key: Key, index: ObjectIndex, body: ProposedBody): Uint8Array {
    const placed = this.#placedAt(key);
    return this.#cipher.seal(this.#placeOf(key, placed), placed.form.encode(key, { index, body }));
  }

  entryOf(key: Key, value: Uint8Array, revisions: KeyRevisions): Entry | Promise<Entry> {
    const placed = this.#placedAt(key);
    const plain = this.#cipher.open(this.#placeOf(key, placed), value);
    if (!(plain instanceof Promise)) return this.#entry(key, placed, value, plain, revisions);
    return plain.then((opened) => this.#entry(key, placed, value, opened, revisions));
  }

  isStale(entry: Entry): boolean {
    const { key } = entry;
    return this.#cipher.isStale(entry, this.#placeOf(key, this.#placedAt(key)));
  }

  ttlSecondsOf(key: Key): number | undefined {
    if (key.startsWith(eventPrefix)) return this.#eventTtlSeconds;
    return key.startsWith(masterLeasePrefix) ? masterLeaseTtlSeconds : undefined;
  }

  #entry(
    key: Key,
    { form }: Placed,
    value: Uint8Array,
    plain: Uint8Array,
    { createRevision, modRevision }: KeyRevisions,
  ): Entry {
    const { index, body } = decoded(key, form, plain);
    const entry = { key, revision: modRevision, createRevision, index, body: fillGap(body, modRevision) };
    this.#cipher.remember(entry, value);
    return entry;
  }

  #placedAt(key: Key): Placed {
    const placed = this.#forms.at(key);
    if (placed === undefined) throw new Error(`nothing is stored at ${key}`);
    return placed;
  }

  #placeOf(key: Key, { resource }: Placed): ValuePlace {
    return { key, etcdKey: this.etcdKey(key), resource };
  }
}

function decoded(key: Key, form: Placed["form"], plain: Uint8Array) {
  try {
    return form.decode(plain);
  } catch (error) {
    throw new CorruptEntryError(key, (error as Error).message);
  }
}

/** Returns the prefix as upstream completes it: with one slash at the start and one at the end. */
function normalPrefix(prefix: string): string {
  const segments = prefix.split("/").filter((segment) => segment !== "");
  return segments.length === 0 ? "/" : `/${segments.join("/")}/`;
}
