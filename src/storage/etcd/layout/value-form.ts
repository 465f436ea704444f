import type { Key, ObjectIndex } from "../../../api/entry.ts";
import type { ProposedBody } from "../../store.ts";

/** An object as the store keeps it. */
export interface StoredObject {
  readonly index: ObjectIndex;
  readonly body: ProposedBody;
}

/** Form of the values of one resource in etcd, before encryption. */
export interface ValueForm {
  encode(key: Key, object: StoredObject): Uint8Array;
  /** @throws Error with the reason if the value has another form */
  decode(value: Uint8Array): StoredObject;
}
