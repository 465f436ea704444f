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
  /** Time for which the bytes were encoded. */
  readonly atMs: number;
  readonly others: Kept | undefined;
}

/** Estimate of the memory that an encoded entry takes besides its bytes. */
const overheadBytes = 160;

/**
 * Keeps entries in the forms in which they are sent, so that each form is encoded once and not once per reader. All
 * forms share one limit, in two halves: the forms that were read recently, and those that were read before them. When
 * both halves are full, new forms are not kept, until half the limit of them has been refused. Then the recent half
 * takes the place of the earlier one. The reason is a list that is longer than the limit: if each new form replaced the
 * oldest one, the next reader of the list would find none. Forms also go with their entry when the store replaces it.
 */
export class EncodedForms {
  readonly #halfMax: number;
  #recent = new WeakMap<Entry, Kept>();
  #recentBytes = 0;
  #earlier = new WeakMap<Entry, Kept>();
  #earlierBytes = 0;
  /** Total size of the forms that were refused since both halves became full. */
  #refusedBytes = 0;

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
    if (!this.#hasRoom(size, earlier !== undefined)) return encoded.bytes;
    const others = withoutForm(form, this.#recent.get(entry));
    this.#recent.set(entry, { form, encoded, atMs: earlier?.atMs ?? nowMs, others });
    this.#recentBytes += size;
    return encoded.bytes;
  }

  /** Reports whether the recent half has room for a form. Drops the earlier half if it is time to. */
  #hasRoom(bytes: number, isKept: boolean): boolean {
    if (this.#recentBytes + bytes <= this.#halfMax) return true;
    if (isKept || bytes > this.#halfMax) return false;
    this.#refusedBytes += bytes;
    if (this.#earlierBytes > 0 && this.#refusedBytes <= this.#halfMax) return false;
    this.#earlier = this.#recent;
    this.#earlierBytes = this.#recentBytes;
    this.#recent = new WeakMap();
    this.#recentBytes = 0;
    this.#refusedBytes = 0;
    return true;
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
