import { fieldError } from "../../api/field-error.ts";
import { apiVersionOf, type GroupVersion, type GroupVersionKind, parseApiVersion } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formerKinds } from "../../api/scheme/former-kinds.ts";
import { goType } from "../../api/scheme/go-type.ts";
import { metaKinds } from "../../api/scheme/meta-kinds.ts";
import type { ObjectForm } from "../../api/scheme/object-form.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { type StatusError, status } from "../../api/status.ts";
import { malformedBody } from "../decode-body.ts";

/** The kind that a body must have, and its forms. */
export interface ExpectedBody {
  readonly gvk: GroupVersionKind;
  readonly form: ObjectForm;
  /** Other apiVersions that are accepted in its place. */
  readonly aliases?: readonly string[] | undefined;
  /** The stored form, if it is in another group. */
  readonly internal?: GroupVersionKind | undefined;
}

/** The resources that accept bodies. */
export interface KnownKinds {
  all(): readonly ResourceInfo[];
}

const goTypeMetaStruct =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const schemeName = "pkg/runtime/scheme.go:111";

/**
 * Returns the document of a body before its type is checked; null for an empty one.
 * @throws StatusError 400 for a document that is not an object, or whose type is not text
 */
export function typedDocument(value: JsonValue, bytes: Uint8Array, expectedKind: string): JsonObject {
  if (value === null) return {};
  const refusal = (why: string) =>
    malformedBody(bytes, `couldn't get version/kind; json parse error: json: cannot unmarshal ${why}`, expectedKind);
  if (!isJsonObject(value)) throw refusal(`${jsonTypeOf(value)} into Go value of type ${goTypeMetaStruct}`);
  for (const key of Object.keys(value)) {
    if (key !== "apiVersion" && key !== "kind") continue;
    const given = value[key] as JsonValue;
    if (given === null || typeof given === "string") continue;
    throw refusal(`${jsonTypeOf(given)} into Go struct field .${key} of type string`);
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
  const isFormer = kind === gvk.kind && formerKinds.get(apiVersion)?.includes(kind) === true;
  const found = isFormer ? wanted : internalTypeOf({ group, version, kind }, gvk.group, known);
  if (found === undefined) {
    const name = JSON.stringify(kind);
    const registry = `is registered for version ${JSON.stringify(apiVersion)} in scheme "${schemeName}"`;
    throw refusal(`no kind ${name} ${registry}`);
  }
  if (found !== wanted) throw refusal(`converting (${version}.${kind}) to (${wanted}): unknown conversion`);
  throw otherVersion(apiVersion, expected);
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

/** Groups that separate programs serve upstream, which know only the kinds of their group. */
const separateGroups: ReadonlySet<string> = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);

function programOf(group: string): string {
  return separateGroups.has(group) ? group : "";
}

/**
 * Returns upstream's name of the internal type of a kind.
 * @param group group of the expected kind
 * @returns undefined for a kind that the program serving the group does not know
 */
function internalTypeOf(gvk: GroupVersionKind, group: string, known: KnownKinds): string | undefined {
  const isCoreMeta = gvk.group === "" && gvk.version === "v1" && metaKinds.has(gvk.kind);
  if (isCoreMeta) return `v1.${gvk.kind}`;
  if (programOf(gvk.group) !== programOf(group)) return undefined;
  for (const info of known.all()) {
    if (isOf(gvk, info)) {
      const internal = info.storedAs?.info ?? info;
      if (info.kind === gvk.kind) return goType(internal);
      if (info.listKind === gvk.kind) return goType({ group: internal.group, kind: info.listKind });
      if (metaKinds.has(gvk.kind)) return `v1.${gvk.kind}`;
    }
    for (const { gvk: body } of info.subresources.values()) {
      if (isOf(gvk, body) && body.kind === gvk.kind) return goType(body);
    }
  }
  return undefined;
}

function isOf(gvk: GroupVersionKind, { group, version }: GroupVersion): boolean {
  return gvk.group === group && gvk.version === version;
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}

function jsonTypeOf(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "number";
}
