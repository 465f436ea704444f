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
 * kept. All forms share one limit. At the limit, further forms are not kept until they have come to half of it. Then the
 * half that was last read longest ago makes room. So of a list that is longer than the limit, most of the forms are
 * found by its next reader, who would find none if each form took the place of one that he needs later. Forms also go
 * with their entry when the store replaces it.
 */
export class EncodedForms {
  readonly #halfMax: number;
  #recent = new WeakMap<Entry, Kept>();
  #recentBytes = 0;
  #earlier = new WeakMap<Entry, Kept>();
  #earlierBytes = 0;
  /** Total size of the forms that were not kept since both halves became full. */
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

  /** Reports whether the recent half has room for a form, and makes it if it is time. */
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
