import type { GroupResource } from "../api/gvk.ts";
import { StatusError, status } from "../api/status.ts";
import { UndecryptableEntryError } from "../storage/store.ts";
import type { StoredKind } from "./stored-kind.ts";

/** Parts of a kind that find an object by name. */
type Addressed = Pick<StoredKind, "info" | "store" | "keyOf" | "ref">;

/**
 * Removes an object that cannot be read, ignoring any finalizers. Watchers see it with only its name.
 * @throws StatusError 404; 409 for a readable object, which has to be deleted normally
 */
export async function removeUnreadable(
  kind: Addressed,
  { namespace, name }: { namespace: string; name: string },
): Promise<void> {
  const { store } = kind;
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
  { namespace, name }: { readonly namespace: string; readonly name: string },
  asked?: GroupResource,
): StatusError {
  const unreadable = kind.store.corruptAt(kind.keyOf(namespace, name));
  const ref = kind.ref(name, asked);
  if (unreadable instanceof UndecryptableEntryError) return status.internal(unreadable.reason);
  return unreadable === undefined ? status.notFound(ref) : status.storeReadError(ref, unreadable.message);
}
