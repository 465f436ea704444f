import { toBytes } from "../../../api/codec/byte-text.ts";
import type { Entry, Key } from "../../../api/entry.ts";
import type { Revision } from "../../../api/revision.ts";
import type { EventListener, Store, StoreEvent } from "../../../storage/store.ts";
import type { RbacPrefixes } from "./rbac-policy.ts";

export const testPrefixes: RbacPrefixes = {
  roles: "/registry/rbac.authorization.k8s.io/roles/",
  clusterRoles: "/registry/rbac.authorization.k8s.io/clusterroles/",
  roleBindings: "/registry/rbac.authorization.k8s.io/rolebindings/",
  clusterRoleBindings: "/registry/rbac.authorization.k8s.io/clusterrolebindings/",
};

/** A source of objects by key with the events of their changes, for followers of the store. */
export class EntrySource implements Pick<Store, "scan" | "subscribe"> {
  readonly #entries = new Map<Key, Entry>();
  readonly #listeners = new Set<EventListener>();
  #revision = 1;

  scan(prefix: Key): Entry[] {
    return [...this.#entries.values()].filter(({ key }) => key.startsWith(prefix));
  }

  subscribe(listener: EventListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  put(key: Key, fields: object): void {
    const revision = ++this.#revision as Revision;
    const previous = this.#entries.get(key);
    const body = toBytes(JSON.stringify({ metadata: {}, ...fields }));
    const index = { apiVersion: "v1", uid: key, labels: undefined, fields: undefined, owners: undefined };
    const entry: Entry = { key, revision, createRevision: previous?.createRevision ?? revision, index, body };
    this.#entries.set(key, entry);
    this.#tell({ revision, type: previous === undefined ? "ADDED" : "MODIFIED", entry, previous });
  }

  delete(key: Key): void {
    const previous = this.#entries.get(key);
    if (previous === undefined) return;
    const revision = ++this.#revision as Revision;
    this.#entries.delete(key);
    this.#tell({ revision, type: "DELETED", entry: { ...previous, revision }, previous });
  }

  #tell(event: StoreEvent): void {
    for (const listener of this.#listeners) listener([event], event.revision, false);
  }
}
