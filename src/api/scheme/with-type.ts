import { apiVersionOf, type GroupVersionKind } from "../gvk.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object-meta.ts";

/** Returns a copy of a document that begins with this type, and shares its parts with the original. */
export function withType(document: JsonObject, type: GroupVersionKind): KubeObject {
  const [kind, apiVersion] = [type.kind, apiVersionOf(type)];
  const typed = { kind, apiVersion, ...document };
  typed.kind = kind;
  typed.apiVersion = apiVersion;
  return typed as unknown as KubeObject;
}
