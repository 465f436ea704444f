import { indexOfBytes } from "../api/codec/byte-text.ts";
import type { ObjectOwner } from "../api/entry.ts";

/** An owner reference of an object's metadata. */
interface OwnerReferenceLike {
  readonly uid?: unknown;
  readonly controller?: unknown;
  readonly blockOwnerDeletion?: unknown;
}

/** Returns the owners that `metadata.ownerReferences` names, in order; undefined if it names none. */
export function ownersOf(references: readonly OwnerReferenceLike[] | undefined): readonly ObjectOwner[] | undefined {
  if (references === undefined || references.length === 0) return undefined;
  const owners: ObjectOwner[] = [];
  for (const { uid, controller, blockOwnerDeletion } of references) {
    if (typeof uid !== "string") continue;
    owners.push({ uid, controller: controller === true, blockOwnerDeletion: blockOwnerDeletion === true });
  }
  return owners.length === 0 ? undefined : owners;
}

const mark = Buffer.from('"ownerReferences":[');

/**
 * Returns the owners that a stored body names. The body is one piece, or the two around its resourceVersion. Most bodies
 * name none and are not parsed.
 */
export function ownersInBody(...pieces: readonly Uint8Array[]): readonly ObjectOwner[] | undefined {
  if (!pieces.some(hasMark)) return undefined;
  try {
    const body = JSON.parse(Buffer.concat(pieces).toString()) as {
      readonly metadata?: { readonly ownerReferences?: readonly OwnerReferenceLike[] };
    };
    return ownersOf(body.metadata?.ownerReferences);
  } catch {
    // If a body is not JSON, reading it as an object reports that.
    return undefined;
  }
}

function hasMark(piece: Uint8Array): boolean {
  return indexOfBytes(piece, mark) >= 0;
}
