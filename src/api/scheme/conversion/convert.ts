import { apiVersionOf } from "../../gvk.ts";
import type { JsonObject } from "../../json.ts";
import type { KubeObject } from "../../object-meta.ts";
import type { ResourceInfo } from "../resource.ts";

/** An object of a served version in the form in which it is stored. */
export function toStorage(object: KubeObject, { storedAs }: ResourceInfo): KubeObject {
  if (storedAs === undefined) return object;
  const { info, conversion } = storedAs;
  const body = object as unknown as JsonObject;
  return typed(conversion === undefined ? body : conversion.toStorage(body), info);
}

/** A stored object as the served version has it, its fields in that version's order. */
export function fromStorage(object: KubeObject, info: ResourceInfo): KubeObject {
  if (info.storedAs === undefined) return object;
  const { conversion } = info.storedAs;
  const body = object as unknown as JsonObject;
  if (conversion === undefined) return typed(body, info);
  return typed(info.form.decode(conversion.fromStorage(body), { kind: info.kind }).object, info);
}

function typed(body: JsonObject, info: ResourceInfo): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = body;
  return { kind: info.kind, apiVersion: apiVersionOf(info), ...fields } as unknown as KubeObject;
}
