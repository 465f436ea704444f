import { type Eventual, followedBy } from "../../../process/eventual.ts";
import { apiVersionOf } from "../../gvk.ts";
import type { JsonObject } from "../../json.ts";
import type { KubeObject } from "../../object-meta.ts";
import { type ResourceInfo, storedInfo } from "../resource.ts";

/**
 * Converts an object of a served version to its stored form.
 * @throws StatusError when the kind's converter fails, also as a rejection
 */
export function inStoredVersion(object: KubeObject, info: ResourceInfo): Eventual<KubeObject> {
  return info.converter === undefined ? toStorage(object, info) : converted(object, storedInfo(info));
}

/**
 * Converts a stored object to the served version.
 * @throws StatusError when the kind's converter fails, also as a rejection
 */
export function inServedVersion(object: KubeObject, info: ResourceInfo): Eventual<KubeObject> {
  return info.converter === undefined ? fromStorage(object, info) : converted(object, info);
}

function converted(object: KubeObject, to: ResourceInfo): Eventual<KubeObject> {
  const { converter } = to;
  if (converter === undefined || object.apiVersion === apiVersionOf(to)) return object;
  return followedBy(converter.convert([object], to), ([only]) => only as KubeObject);
}

/** Converts an object whose kind has no asynchronous converter to the stored version. */
export function toStorage(object: KubeObject, { storedAs }: ResourceInfo): KubeObject {
  if (storedAs === undefined) return object;
  const { info, conversion } = storedAs;
  const body = object as unknown as JsonObject;
  return typed(conversion === undefined ? body : conversion.toStorage(body), info);
}

/**
 * Converts a stored object to the served version, with fields in that version's order. An object of a kind with an
 * asynchronous converter must have been converted before.
 */
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
