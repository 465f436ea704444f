import type { KubeObject } from "../api/object-meta.ts";

/** Makes an object equal to another one and keeps its identity, by which the steps of a write know it. */
export function replaceContents(object: KubeObject, contents: KubeObject): void {
  if (object === contents) return;
  for (const name of Object.keys(object)) {
    if (!Object.hasOwn(contents, name)) delete (object as Record<string, unknown>)[name];
  }
  Object.assign(object, contents);
}
