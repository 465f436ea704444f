import { fieldError } from "../../api/field-error.ts";
import { apiVersionOf, parseApiVersion } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { formerKinds } from "../../api/scheme/former-kinds.ts";
import { goType } from "../../api/scheme/go-type.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { type StatusError, status } from "../../api/status.ts";
import { schemeName } from "./body-type.ts";
import { internalTypeOfKind, type KnownKinds, type RegisteredType, registeredType } from "./registered-type.ts";

export interface PatchedTypeRules {
  /** Resource or subresource of the path. */
  readonly info: ResourceInfo;
  /** Name of the object, for messages. */
  readonly name: string;
  readonly known: KnownKinds;
  readonly refusal: (why: string) => Error;
}

/**
 * Checks the type of a patched document and gives it the type of the path. A patch may leave out the kind, or name
 * another version that has the same internal type.
 * @throws StatusError 400, or 422 for another type of custom object
 */
export function settlePatchedType(merged: JsonObject, rules: PatchedTypeRules): void {
  const { info, refusal } = rules;
  const expected = apiVersionOf(info);
  const { kind: givenKind = info.kind, apiVersion = "" } = merged;
  if (typeof givenKind !== "string" || typeof apiVersion !== "string") return;
  if (givenKind === info.kind && apiVersion === expected) return;
  const kind = givenKind === "" ? info.kind : givenKind;
  if (info.form.kind === "structural") throw otherCustomType(kind, apiVersion, rules);
  const problem = typeProblem(apiVersion, kind, merged, rules);
  if (problem !== undefined) throw refusal(problem);
  merged["kind"] = info.kind;
  merged["apiVersion"] = expected;
}

function typeProblem(
  apiVersion: string,
  kind: string,
  merged: JsonObject,
  rules: PatchedTypeRules,
): string | undefined {
  const { info } = rules;
  if (kind === info.kind && apiVersion === apiVersionOf(info)) return undefined;
  const found = apiVersion === "" ? internalType(kind, rules) : versionedType(apiVersion, kind, rules);
  if (typeof found === "string") return found;
  const wanted = goType(info.storedAs?.info ?? info);
  const unreadable = decodingProblem(apiVersion, kind, merged);
  if (unreadable !== undefined || found.internal === wanted) return unreadable;
  return `converting (${found.source}) to (${wanted}): unknown conversion`;
}

/** The objects of custom kinds are validated for their type only after the patch. */
function otherCustomType(kind: string, apiVersion: string, { info, name }: PatchedTypeRules): StatusError {
  if (apiVersion === "") throw status.internal("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const expected = apiVersionOf(info);
  const { group } = parseApiVersion(apiVersion) ?? info;
  return status.invalid({ group, kind, name }, [
    ...(kind === info.kind ? [] : [fieldError.invalid("kind", kind, `must be ${info.kind}`)]),
    ...(apiVersion === expected ? [] : [fieldError.invalid("apiVersion", apiVersion, `must be ${expected}`)]),
  ]);
}

function unregistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "${schemeName}"`;
}

/** Without an apiVersion, upstream reads the document as an internal type, and finds no name in one of its own kind. */
function internalType(kind: string, { info, name, known }: PatchedTypeRules): RegisteredType | string {
  const found = internalTypeOfKind(info.group, kind, known);
  if (kind === info.kind || found === goType(info.storedAs?.info ?? info)) {
    throw status.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (found !== undefined) return { source: found, internal: found };
  return `no kind ${JSON.stringify(kind)} is registered for the internal version of group ${JSON.stringify(info.group)} in scheme "${schemeName}"`;
}

function versionedType(apiVersion: string, kind: string, { info, known }: PatchedTypeRules): RegisteredType | string {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return `unexpected GroupVersion string: ${apiVersion}`;
  const found = registeredType({ ...parsed, kind }, info, info.storedAs?.info ?? info, known);
  return found ?? unregistered(kind, apiVersion);
}

/** Returns the error for a document of another kind, in the cases that clients encounter. */
function decodingProblem(apiVersion: string, kind: string, { status: given }: JsonObject): string | undefined {
  if (kind === "Status" && typeof given === "object") {
    return "json: cannot unmarshal object into Go struct field Status.status of type string";
  }
  const isFormerScale = kind === "Scale" && formerKinds.get(apiVersion)?.includes(kind) === true;
  if (isFormerScale && typeof objectOf(given)["selector"] === "string") {
    return "json: cannot unmarshal string into Go struct field ScaleStatus.status.selector of type map[string]string";
  }
  return undefined;
}
