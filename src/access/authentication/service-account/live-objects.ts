import type { ResourceInfo } from "../../../api/scheme/resource.ts";
import { decodeEntry } from "../../../api/codec/stored-object.ts";
import type { Store } from "../../../storage/store.ts";
import type { Entry } from "../../../api/entry.ts";

/** The kinds that a token depends on. */
export type BoundResource = "serviceaccounts" | "pods" | "secrets" | "nodes";

export interface LiveObject {
  readonly uid: string;
  /** When it goes, or was to go; undefined while it stays. */
  readonly deletedMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** The token that a Secret holds, base64; undefined elsewhere. */
  readonly token: string | undefined;
}

/** What is there now, straight from the store: a token must end with what it is bound to. */
export interface LiveObjects {
  find(resource: BoundResource, namespace: string, name: string): LiveObject | undefined;
}

/** @param infos the kinds that are served; objects of others do not exist */
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
