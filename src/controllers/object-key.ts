import type { Key } from "../api/entry.ts";
import type { Registry } from "../registry/registry.ts";

/** Splits the key of a namespaced object. */
export function namesOf({ info }: Registry, key: Key): { readonly namespace: string; readonly name: string } {
  const at = key.indexOf("/", info.keyPrefix.length);
  return { namespace: key.slice(info.keyPrefix.length, at), name: key.slice(at + 1) };
}
