import { StatusError, status } from "../api/status.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { Store } from "../storage/store.ts";
import type { StoredKind } from "./stored-kind.ts";

/** A kind whose objects can be found by name. */
type Addressed = Pick<StoredKind, "info" | "keyOf" | "ref">;

/**
 * Removes an object that cannot be read, whatever its finalizers were and whoever waits for them. Watchers see it with
 * nothing but its name.
 * @throws StatusError 404; 409 for an object that can be read, which is deleted as any other
 */
export async function removeUnreadable(
  kind: Addressed,
  store: Store,
  { namespace, name }: { namespace: string; name: string },
): Promise<void> {
  const key = kind.keyOf(namespace, name);
  if (store.corruptAt(key) === undefined) {
    if (store.get(key) === undefined) throw status.notFound(kind.ref(name));
    throw status.conflict(
      kind.ref(name),
      "unsafe deletion is not allowed because the object is decodable from storage",
    );
  }
  const where = kind.info.namespaced ? `,"namespace":${JSON.stringify(namespace)}` : "";
  const last = {
    prefix: Buffer.from(`{"metadata":{"name":${JSON.stringify(name)}${where},"resourceVersion":"`),
    suffix: Buffer.from(`"}}`),
  };
  await store.commit({ key, expect: { kind: "any" }, operation: { kind: "delete", last } });
}

/**
 * Returns the answer to a read or write that meets nothing in memory: 404, or 500 for an object that cannot be read.
 * @param asked the resource of the request, whose group may differ from the stored one
 */
export function absent(
  kind: Addressed,
  store: Store,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  asked?: GroupResource,
): StatusError {
  const unreadable = store.corruptAt(kind.keyOf(namespace, name));
  const ref = kind.ref(name, asked);
  return unreadable === undefined ? status.notFound(ref) : status.storeReadError(ref, unreadable.message);
}
