import type { ObjectIndex, ObjectOwner } from "../../api/entry.ts";
import { emptyJsonObject } from "../../api/json.ts";
import { ownersInBody } from "../object-owners.ts";
import { uidInBody } from "../object-uid.ts";

/**
 * An index without its uid, as records and the log hold it: JSON of the apiVersion, the labels, the fields and the
 * owners. 0 stands for no labels and for no fields. An owner consists of its flags and its uid.
 *
 *     ["v1",{"app":"web"},0,[3,"5e7c…"]]      an object with one owner
 *     ["v1",{"app":"web"},0,[]]               without owners
 *     ["v1",{"app":"web"},0]                  written before the index had owners: they are read from the body
 *     ["a.com/v1 5f3c…",0,0,[]]               a custom resource, with the schema that its body follows
 *
 * Programs from before take the first three and pass over the rest, so members of both kinds can share a log and send
 * each other images while a cluster is being upgraded.
 */
export function encodeIndexText({ apiVersion, form, labels, fields, owners }: ObjectIndex): string {
  const written = form === undefined ? apiVersion : `${apiVersion} ${form}`;
  const before = JSON.stringify([written, labels ?? 0, fields ?? 0]);
  return `${before.slice(0, -1)},${owners === undefined ? "[]" : encodeOwners(owners)}]`;
}

const controllerFlag = 1;
const blockOwnerDeletionFlag = 2;
/** The ending of every text that lists owners. Older texts end with a map or with 0. */
const endOfOwners = "]]";

function encodeOwners(owners: readonly ObjectOwner[]): string {
  const list: (number | string)[] = [];
  for (const { uid, controller, blockOwnerDeletion } of owners) {
    list.push((controller ? controllerFlag : 0) | (blockOwnerDeletion ? blockOwnerDeletionFlag : 0), uid);
  }
  // The last opening bracket is then that of the list.
  return `[${JSON.stringify(list).slice(1).replaceAll("[", "\\u005b")}`;
}

function decodeOwners(text: string): readonly ObjectOwner[] | undefined {
  const list = JSON.parse(text) as (number | string)[];
  const owners: ObjectOwner[] = [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    const flags = list[at] as number;
    owners.push({
      uid: list[at + 1] as string,
      controller: (flags & controllerFlag) !== 0,
      blockOwnerDeletion: (flags & blockOwnerDeletionFlag) !== 0,
    });
  }
  return owners.length === 0 ? undefined : owners;
}

/** Maximum number of texts of each kind that are cached. At the limit all are dropped, and read again on demand. */
const sharedMax = 16_384;

type SelectionIndex = Pick<ObjectIndex, "apiVersion" | "form" | "labels" | "fields">;

/** Reads indexes. Objects of one controller have equal ones, and others have equal parts; equal values share one copy. */
export class IndexCache {
  /** Indexes without a uid, by their text. */
  readonly #indexes = new Map<string, ObjectIndex>();
  readonly #selections = new Map<string, SelectionIndex>();
  readonly #owners = new Map<string, readonly ObjectOwner[] | undefined>();
  readonly #texts = new Map<string, string>();

  /**
   * Returns the index of an object. It does not repeat a uid that the body names.
   * @param body the object's bytes, in pieces. Owners are read from it if the text does not list them
   */
  index(uid: string, text: string, ...body: readonly Uint8Array[]): ObjectIndex {
    const [first] = body;
    if (first === undefined || !text.endsWith(endOfOwners) || uidInBody(first) !== uid) {
      return this.#read(uid, text, body);
    }
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    if (this.#indexes.size >= sharedMax) this.#indexes.clear();
    const index = this.#read(undefined, text, body);
    this.#indexes.set(text, index);
    return index;
  }

  #read(uid: string | undefined, text: string, body: readonly Uint8Array[]): ObjectIndex {
    const ownersAt = text.endsWith(endOfOwners) ? text.lastIndexOf("[") : -1;
    const { apiVersion, labels, fields, form } = this.#selection(
      ownersAt < 0 ? text : `${text.slice(0, ownersAt - 1)}]`,
    );
    const owners = ownersAt < 0 ? ownersInBody(...body) : this.#ownersOf(text.slice(ownersAt, -1));
    // Spreading one into the other would store most of the fields in a second allocation.
    return form === undefined
      ? { apiVersion, uid, labels, fields, owners }
      : { apiVersion, uid, labels, fields, owners, form };
  }

  /**
   * Returns an equal index that shares its parts with those read before.
   * @param body the object's bytes, at least those before its resourceVersion
   */
  shared(index: ObjectIndex & { readonly uid: string }, body: Uint8Array): ObjectIndex {
    return this.index(index.uid, encodeIndexText(index), body);
  }

  #selection(text: string): SelectionIndex {
    let selection = this.#selections.get(text);
    if (selection !== undefined) return selection;
    if (this.#selections.size >= sharedMax) this.#selections.clear();
    const [written, labels, fields] = JSON.parse(text) as [string, StringMap | 0, StringMap | 0];
    const [apiVersion = "", form] = written.split(" ");
    selection = {
      apiVersion: this.#shared(apiVersion),
      labels: decodeMap(labels),
      fields: decodeMap(fields),
      ...(form === undefined ? {} : { form: this.#shared(form) }),
    };
    this.#selections.set(text, selection);
    return selection;
  }

  #ownersOf(text: string): readonly ObjectOwner[] | undefined {
    if (text === "[]") return undefined;
    let owners = this.#owners.get(text);
    if (owners !== undefined) return owners;
    if (this.#owners.size >= sharedMax) this.#owners.clear();
    owners = decodeOwners(text);
    this.#owners.set(text, owners);
    return owners;
  }

  #shared(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}

type StringMap = Readonly<Record<string, string>>;

function decodeMap(map: StringMap | 0): StringMap | undefined {
  if (map === 0) return undefined;
  const keys = Object.keys(map);
  if (keys.length === 0) return undefined;
  const decoded = emptyJsonObject() as Record<string, string>;
  for (const key of keys) decoded[key] = map[key] as string;
  return decoded;
}
