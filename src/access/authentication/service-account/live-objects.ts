import { decodeEntry } from "../../../api/codec/stored-object.ts";
import type { Entry } from "../../../api/entry.ts";
import type { ResourceInfo } from "../../../api/scheme/resource.ts";
import type { Store } from "../../../storage/store.ts";

/** The kinds on which a token depends. */
export type BoundResource = "serviceaccounts" | "pods" | "secrets" | "nodes";

export interface LiveObject {
  readonly uid: string;
  /** Time of its deletion, past or planned; undefined if there is none. */
  readonly deletedMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** The token in a Secret, base64; undefined for other kinds. */
  readonly token: string | undefined;
}

/** The current objects, read directly from the store, because a token ends with the object to which it is bound. */
export interface LiveObjects {
  find(resource: BoundResource, namespace: string, name: string): LiveObject | undefined;
}

/** @param infos the served kinds; objects of other kinds do not exist */
export function liveObjects(store: Store, infos: ReadonlyMap<BoundResource, ResourceInfo>): LiveObjects {
  const known = new WeakMap<Entry, LiveObject>();
  return {
    find(resource, namespace, name) {
      const info = infos.get(resource);
      if (info === undefined) return undefined;
      const entry = store.get(info.keyPrefix + (info.namespaced ? `${namespace}/${name}` : name));
      if (entry === undefined) return undefined;
      let object = known.get(entry);
      if (object === undefined) {
        object = read(entry, info);
        known.set(entry, object);
      }
      return object;
    },
  };
}

function read(entry: Entry, info: ResourceInfo): LiveObject {
  const object = decodeEntry(entry, info);
  const { uid = "", deletionTimestamp, labels = {} } = object.metadata;
  const { token } = (object["data"] ?? {}) as { token?: string };
  return {
    uid,
    deletedMs: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp),
    labels,
    token: info.resource === "secrets" ? token : undefined,
  };
}
