import type { Entry } from "../entry.ts";

/** A way to encode entries. The bytes are found again by this object. */
export interface EntryForm {
  encode(entry: Entry, nowMs: number): EncodedEntry;
}

export interface EncodedEntry {
  readonly bytes: Uint8Array;
  /** Time at which the bytes begin to differ; absent if they depend on the entry alone. */
  readonly staleAtMs?: number;
}

/** One form of an entry, in front of the others. */
interface Kept {
  readonly form: EntryForm;
  readonly encoded: EncodedEntry;
  /** Time of which the bytes are. */
  readonly atMs: number;
  readonly others: Kept | undefined;
}

/** Estimate of the memory that an encoded entry takes besides its bytes. */
const overheadBytes = 160;

/**
 * Entries in the forms in which they are sent. An entry is encoded once per form, not once per reader, as long as it is
 * kept. All forms share one limit. Whenever half of it is used up, the forms that were last read before the other half
 * was filled are dropped. Forms also go with their entry when the store replaces it.
 */
export class EncodedForms {
  readonly #halfMax: number;
  #recent = new WeakMap<Entry, Kept>();
  #recentBytes = 0;
  #earlier = new WeakMap<Entry, Kept>();
  #earlierBytes = 0;

  constructor(bytesMax: number) {
    this.#halfMax = bytesMax / 2;
  }

  /** Upper bound of the memory that the forms take. */
  get bytes(): number {
    return this.#recentBytes + this.#earlierBytes;
  }

  /** Returns the entry in a form, as of a time. */
  get(entry: Entry, form: EntryForm, nowMs: number): Uint8Array {
    const recent = this.#recent.get(entry);
    const found = keptAs(form, recent, nowMs);
    if (found !== undefined) return found.encoded.bytes;
    const earlier = keptAs(form, this.#earlier.get(entry), nowMs);
    const encoded = earlier?.encoded ?? form.encode(entry, nowMs);
    const size = encoded.bytes.length + overheadBytes;
    if (size > this.#halfMax) return encoded.bytes;
    const others = withoutForm(form, this.#makeRoom(size) ? undefined : recent);
    this.#recent.set(entry, { form, encoded, atMs: earlier?.atMs ?? nowMs, others });
    return encoded.bytes;
  }

  /** Returns true if the recent forms became the earlier ones. */
  #makeRoom(bytes: number): boolean {
    const isFull = this.#recentBytes + bytes > this.#halfMax;
    if (isFull) {
      this.#earlier = this.#recent;
      this.#earlierBytes = this.#recentBytes;
      this.#recent = new WeakMap();
      this.#recentBytes = 0;
    }
    this.#recentBytes += bytes;
    return isFull;
  }
}

function keptAs(form: EntryForm, kept: Kept | undefined, nowMs: number): Kept | undefined {
  for (let next = kept; next !== undefined; next = next.others) {
    if (next.form !== form) continue;
    const { staleAtMs } = next.encoded;
    return staleAtMs === undefined || (nowMs >= next.atMs && nowMs < staleAtMs) ? next : undefined;
  }
  return undefined;
}

function withoutForm(form: EntryForm, kept: Kept | undefined): Kept | undefined {
  if (kept === undefined) return undefined;
  const others = withoutForm(form, kept.others);
  if (kept.form === form) return others;
  return others === kept.others ? kept : { ...kept, others };
}
