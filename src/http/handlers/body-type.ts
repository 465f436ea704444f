import { fieldError } from "../../api/field-error.ts";
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { jsonTypeName } from "../../api/json-type-name.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { goType } from "../../api/scheme/go-type.ts";
import type { ObjectForm } from "../../api/scheme/object-form.ts";
import { type StatusError, status } from "../../api/status.ts";
import { malformedBody } from "../decode-body.ts";
import { type KnownKinds, registeredType } from "./registered-type.ts";

/** The kind that a body must have, and its forms. */
export interface ExpectedBody {
  readonly gvk: GroupVersionKind;
  readonly form: ObjectForm;
  /** Other apiVersions that are accepted in its place. */
  readonly aliases?: readonly string[] | undefined;
  /** The stored form, if it is in another group. */
  readonly internal?: GroupVersionKind | undefined;
}

const goTypeMetaStruct =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
/** Name of upstream's table of types. */
export const schemeName = "pkg/runtime/scheme.go:111";

/**
 * Returns the document of a body before its type is checked; null for an empty one.
 * @throws StatusError 400 for a document that is not an object, or whose type is not text
 */
export function typedDocument(value: JsonValue, bytes: Uint8Array, expectedKind?: string): JsonObject {
  if (value === null) return {};
  const refusal = (why: string) =>
    malformedBody(bytes, `couldn't get version/kind; json parse error: json: cannot unmarshal ${why}`, expectedKind);
  if (!isJsonObject(value)) throw refusal(`${jsonTypeName(value)} into Go value of type ${goTypeMetaStruct}`);
  for (const key of Object.keys(value)) {
    if (key !== "apiVersion" && key !== "kind") continue;
    const given = value[key] as JsonValue;
    if (given !== null && typeof given !== "string") {
      throw refusal(`${jsonTypeName(given)} into Go struct field .${key} of type string`);
    }
    if (key !== "apiVersion" || given === null || parseApiVersion(given) !== undefined) continue;
    throw malformedBody(bytes, `unexpected GroupVersion string: ${given}`, expectedKind);
  }
  return value;
}

/** Compares the type of a body with the path's. A body without a type gets the path's. @throws StatusError 400 */
export function refuseOtherType(
  body: { readonly apiVersion?: JsonValue; readonly kind?: JsonValue },
  { gvk, form, aliases = [], internal = gvk }: ExpectedBody,
  known: KnownKinds,
): void {
  const expected = apiVersionOf(gvk);
  const apiVersion = textOr(body.apiVersion, expected);
  const kind = textOr(body.kind, gvk.kind);
  if (form.kind === "structural") {
    if (apiVersion === expected) return;
    throw otherVersion(apiVersion, expected);
  }
  if (kind === gvk.kind && (apiVersion === expected || aliases.includes(apiVersion))) return;
  const { group, version } = parseApiVersion(apiVersion) ?? { group: "", version: apiVersion };
  const refusal = (why: string) => cannotHandle({ group, version, kind }, gvk.kind, why);
  const wanted = goType(internal);
  const found = registeredType({ group, version, kind }, gvk, internal, known);
  if (found === undefined) {
    throw refusal(unregistered(kind, apiVersion));
  }
  if (found.internal !== wanted) throw refusal(`converting (${found.source}) to (${wanted}): unknown conversion`);
  throw otherVersion(apiVersion, expected);
}

/** `no kind "Pod" is registered for version "v2" …`. */
export function unregistered(kind: string, apiVersion: string): string {
  const [name, version] = [kind, apiVersion].map((text) => JSON.stringify(text));
  return `no kind ${name} is registered for version ${version} in scheme "${schemeName}"`;
}

function otherVersion(apiVersion: string, expected: string): StatusError {
  return status.badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
  );
}

/** Validates the kind of a custom resource, which can be any text up to here. @throws StatusError 422 */
export function refuseOtherCustomKind(
  { kind = "" }: JsonObject,
  { metadata }: KubeObject,
  { gvk, form }: ExpectedBody,
): void {
  if (form.kind === "struct" || kind === "" || kind === gvk.kind) return;
  throw status.invalid({ group: gvk.group, kind: String(kind), name: metadata.name ?? "" }, [
    fieldError.invalid("kind", kind, `must be ${gvk.kind}`),
  ]);
}

/** `Pod in version "v1" cannot be handled as a Binding: …`. */
export function cannotHandle({ kind, version }: GroupVersionKind, expected: string, why: string): StatusError {
  return status.badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected}: ${why}`);
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}
