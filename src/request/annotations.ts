import type { ObjectMeta } from "../api/object-meta.ts";

/** Notes about a request. The decision, which nearly every request has, is separate from the others. */
export interface Annotations {
  /** `allow` or `forbid`; "" before it was decided. */
  decision: string;
  reason: string;
  more: Map<string, string> | undefined;
}

/** The parts of an object's identity that the path does not give; "" for a part that is not known. */
export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export const unknownObject: ObjectIdentity = { name: "", uid: "", resourceVersion: "" };

/** The audit's view of a request, which the parts that handle it add to. */
export interface RequestNotes extends Annotations {
  /** Identity of the object in the body of a create or update. */
  object: ObjectIdentity;
  /** Bodies of requests are recorded, so annotations may quote them. */
  readonly recordsBodies: boolean;
}

const annotationsMax = 64;

/** Keeps the first value of a key: nothing that runs later can rewrite what was recorded. */
export function annotate(notes: Annotations, key: string, value: string): void {
  const more = (notes.more ??= new Map());
  if (!more.has(key) && more.size < annotationsMax) more.set(key, value);
}

export function recordDecision(notes: Annotations, decision: string, reason: string): void {
  if (notes.decision !== "") return;
  notes.decision = decision;
  notes.reason = reason;
}

/** Notes the object as the client sent it; called before the registry fills in defaults. */
export function recordObject(notes: RequestNotes, { name = "", uid = "", resourceVersion = "" }: ObjectMeta): void {
  notes.object = { name, uid, resourceVersion };
}
