/** A place in the store's history, +1 per applied mutation. Its decimal text is the resourceVersion. Never a Raft index. */
export type Revision = number & { readonly brand: "Revision" };

export const zeroRevision = 0 as Revision;

export function nextRevision(current: Revision): Revision {
  return toRevision(current + 1);
}

/** The one cast. Throws when the number is no revision: that is our bug or a broken disk, never a client's mistake. */
export function toRevision(value: number): Revision {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a revision: ${value}`);
  return value as Revision;
}
