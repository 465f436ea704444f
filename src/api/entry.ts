import type { Revision } from "./revision.ts";

/**
 * `/registry/<resource prefix>/[<namespace>/]<name>`, compared by UTF-16 code unit (all keys are ASCII). All keys below
 * `/registry/<resource prefix>/` belong to one resource.
 */
export type Key = string;

/** Facts that selection and conversion need without reading the body. The proposer computes them once per write. */
export interface ObjectIndex {
  /** apiVersion in which `body` is written (the storage version). */
  readonly apiVersion: string;
  /** The uid; undefined if the body names it, so that objects can share an index. `uidOf` returns it in either case. */
  readonly uid: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Selectable fields of the resource other than metadata.name and metadata.namespace. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** Id of the schema that completed the body. Absent for built-in kinds, and where more than one schema did. */
  readonly form?: string;
  /** Owners in the order of `metadata.ownerReferences`; undefined without any. */
  readonly owners: readonly ObjectOwner[] | undefined;
}

/** One of an object's owner references. */
export interface ObjectOwner {
  readonly uid: string;
  readonly controller: boolean;
  readonly blockOwnerDeletion: boolean;
}

/**
 * One object at one revision. Immutable: shared by the state, the caches, snapshots and every watcher. `body` is the
 * finished JSON without its type: `{"metadata":{…},"spec":…}`. Readers put `"kind":"Pod","apiVersion":"v1",` behind the
 * brace, except in list items.
 */
export interface Entry {
  readonly key: Key;
  /** Revision of the last change: the object's resourceVersion. */
  readonly revision: Revision;
  readonly createRevision: Revision;
  readonly index: ObjectIndex;
  readonly body: Uint8Array;
}
