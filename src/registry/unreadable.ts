import { StatusError, status } from "../api/status.ts";
import type { Store } from "../storage/store.ts";
import type { Key } from "../api/entry.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";

/** The part of a registry that says where an object is stored. */
interface Places {
  readonly info: ResourceInfo;
  keyOf(namespace: string, name: string): Key;
  ref(name: string): GroupResource & { readonly name: string };
}

/**
 * Removes an object that cannot be read, whatever its finalizers were and whoever waits for them. Watchers see it with
 * nothing but its name.
 * @throws StatusError 404; 409 for an object that can be read, which is deleted as any other
 */
export async function removeUnreadable(
  registry: Places,
  store: Store,
  { namespace, name }: { namespace: string; name: string },
): Promise<void> {
  const key = registry.keyOf(namespace, name);
  if (store.corruptAt(key) === undefined) {
    if (store.get(key) === undefined) throw status.notFound(registry.ref(name));
    throw status.conflict(
      registry.ref(name),
      "unsafe deletion is not allowed because the object is decodable from storage",
    );
  }
  const where = registry.info.namespaced ? `,"namespace":${JSON.stringify(namespace)}` : "";
  const last = {
    prefix: Buffer.from(`{"metadata":{"name":${JSON.stringify(name)}${where},"resourceVersion":"`),
    suffix: Buffer.from(`"}}`),
  };
  await store.commit({ key, expect: { kind: "any" }, operation: { kind: "delete", last } });
}

/** The answer to a read or write that meets nothing in memory: 404, or 500 for an object that cannot be read. */
export function absent(registry: Places, store: Store, namespace: string, name: string): StatusError {
  const unreadable = store.corruptAt(registry.keyOf(namespace, name));
  const ref = registry.ref(name);
  return unreadable === undefined ? status.notFound(ref) : status.storeReadError(ref, unreadable.message);
}
