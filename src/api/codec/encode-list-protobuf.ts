import type { Entry } from "../entry.ts";
import type { EntryForm } from "./encoded-forms.ts";
import { encodedEntry } from "./entry-forms.ts";
import type { ListHead } from "./list-head.ts";
import { encodeListHead, encodeListItemHead } from "./protobuf.ts";
import { envelopeHead, envelopeTail } from "./protobuf-envelope.ts";
import { varintBytes } from "./varint.ts";

/**
 * Yields a list message in its envelope, in parts. The envelope begins with the length of the message, so that all items
 * have been encoded once before. They are encoded again where they are not kept, so that a list in transit holds none.
 * @param itemBytes the result of `itemBytesInSteps`
 */
export function* protobufListParts(
  head: ListHead,
  items: Iterable<Uint8Array>,
  itemBytes: number,
): Generator<Uint8Array> {
  const listHead = encodeListHead(head.metadata);
  yield envelopeHead(head, listHead.length + itemBytes);
  yield listHead;
  for (const item of items) {
    yield encodeListItemHead(item.length);
    yield item;
  }
  yield envelopeTail;
}

/** Returns the length of the items in a list message, and yields after each that it has to encode. */
export function* itemBytesInSteps(entries: readonly Entry[], form: EntryForm): Generator<void, number> {
  const lengths = lengthsOf(form);
  let bytes = 0;
  for (const entry of entries) {
    let length = lengths.get(entry);
    if (length === undefined) {
      length = lengthInList(encodedEntry(entry, form, 0));
      lengths.set(entry, length);
      yield;
    }
    bytes += length;
  }
  return bytes;
}

/** Lengths of items. They stay when a long list does not fit into the kept forms, and go with their entries. */
const lengthsByForm = new WeakMap<EntryForm, WeakMap<Entry, number>>();

function lengthsOf(form: EntryForm): WeakMap<Entry, number> {
  let lengths = lengthsByForm.get(form);
  if (lengths === undefined) {
    lengths = new WeakMap();
    lengthsByForm.set(form, lengths);
  }
  return lengths;
}

/** Returns the length of an item with its tag and its own length. */
function lengthInList({ length }: Uint8Array): number {
  return 1 + varintBytes(length) + length;
}
