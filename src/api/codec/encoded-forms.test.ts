import { expect, test } from "bun:test";
import type { Entry } from "../entry.ts";
import { EncodedForms, type EntryForm } from "./encoded-forms.ts";

const bytesOfOne = 1_000;
const memoryOfOne = 1_160;

function entry(name: string): Entry {
  return { key: name } as Entry;
}

/** Returns a form that counts how often it encodes, and whose bytes change every `steadyMs`. */
function countedForm(steadyMs?: number): EntryForm & { encoded: string[] } {
  const encoded: string[] = [];
  return {
    encoded,
    encode({ key }, nowMs) {
      encoded.push(key);
      const bytes = new Uint8Array(bytesOfOne);
      return steadyMs === undefined ? { bytes } : { bytes, staleAtMs: nowMs + steadyMs };
    },
  };
}

test("an entry is encoded once per form", () => {
  const forms = new EncodedForms(100 * memoryOfOne);
  const [first, second, a] = [countedForm(), countedForm(), entry("a")];
  const bytes = forms.get(a, first, 0);
  forms.get(a, second, 0);
  expect(forms.get(a, first, 9)).toBe(bytes);
  expect([first.encoded, second.encoded]).toEqual([["a"], ["a"]]);
});

test("a form with ages is encoded again when they change", () => {
  const forms = new EncodedForms(100 * memoryOfOne);
  const [form, a] = [countedForm(1_000), entry("a")];
  for (const nowMs of [5_000, 5_999, 6_000, 6_999, 3_000]) forms.get(a, form, nowMs);
  expect(form.encoded).toHaveLength(3);
});

test("entries that were not read lately are dropped at the limit", () => {
  const forms = new EncodedForms(4 * memoryOfOne);
  const form = countedForm();
  const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(entry) as [Entry, Entry, Entry, Entry, Entry];
  for (const one of [a, b, c, a, d]) forms.get(one, form, 0);
  expect(form.encoded).toEqual(["a", "b", "c", "d"]);
  // The second time, as much as half of the limit was not kept.
  for (let times = 0; times < 3; times++) forms.get(e, form, 0);
  expect(form.encoded).toEqual(["a", "b", "c", "d", "e", "e"]);
  form.encoded.length = 0;
  for (const one of [a, c, e, b]) forms.get(one, form, 0);
  expect(form.encoded).toEqual(["b"]);
  expect(forms.bytes).toBeLessThanOrEqual(4 * memoryOfOne);
});

test("of a list that is longer than the limit, later readers find most entries", () => {
  const [kept, readers] = [20, 16];
  const forms = new EncodedForms(kept * memoryOfOne);
  const form = countedForm();
  const list = Array.from({ length: kept + 2 }, (_, at) => entry(`${at}`));
  for (let reader = 0; reader < readers; reader++) for (const one of list) forms.get(one, form, 0);
  expect(form.encoded.length).toBeLessThan((list.length * readers) / 3);
  expect(forms.bytes).toBeLessThanOrEqual(kept * memoryOfOne);
});

test("an entry larger than half of the limit is not kept", () => {
  const forms = new EncodedForms(memoryOfOne);
  const [form, a] = [countedForm(), entry("a")];
  forms.get(a, form, 0);
  forms.get(a, form, 0);
  expect([form.encoded.length, forms.bytes]).toEqual([2, 0]);
});
