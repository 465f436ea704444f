/**
 * Position in the store's history; each applied mutation adds one. Its decimal text is the resourceVersion. Never a
 * Raft index.
 */
export type Revision = number & { readonly brand: "Revision" };

export const zeroRevision = 0 as Revision;

export function nextRevision(current: Revision): Revision {
  return toRevision(current + 1);
}

/** Casts a number to a revision. An invalid one throws: it means a bug of ours or a broken disk, not a client's mistake. */
export function toRevision(value: number): Revision {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a revision: ${value}`);
  return value as Revision;
}
