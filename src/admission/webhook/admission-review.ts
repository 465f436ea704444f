import { JsonSyntaxError, parseJson, stringifyJson } from "../../api/codec/json.ts";
import { quoteText } from "../../api/go-literal.ts";
import { documentTypeText } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { Status } from "../../api/status.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import { admissionRequest } from "../expressions/request-values.ts";
import type { MatchedResource } from "../matching/matched-resource.ts";
import type { ShownDocuments } from "../matching/shown-documents.ts";

const group = "admission.k8s.io";
const kind = "AdmissionReview";
const versions = ["v1", "v1beta1"] as const;
export type ReviewVersion = (typeof versions)[number];
export const reviewKinds = versions.map((version) => ({ group, version, kind }));

/** Returns the first of the versions that a webhook accepts and that is known. */
export function reviewVersionOf(accepted: readonly string[]): ReviewVersion | undefined {
  return accepted.find((version): version is ReviewVersion => (versions as readonly string[]).includes(version));
}

/** Returns the question to a webhook, in JSON. */
export function admissionReview(
  version: ReviewVersion,
  uid: string,
  attributes: AdmissionAttributes,
  matched: MatchedResource,
  { objectText, oldObjectText }: ShownDocuments,
): string {
  const { object: _object, oldObject: _oldObject, ...request } = admissionRequest(attributes, matched);
  const fields = stringifyJson({ ...request, uid }).slice(0, -1);
  const head = `{"kind":"${kind}","apiVersion":"${group}/${version}","request":`;
  return `${head}${fields},"object":${objectText},"oldObject":${oldObjectText}}}`;
}

/** The answer of a webhook, checked. */
export interface ReviewResponse {
  readonly isAllowed: boolean;
  readonly result: Partial<Status> | undefined;
  /** JSON text of a JSON patch; undefined without one. */
  readonly patch: Uint8Array | undefined;
  readonly patchType: string;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The answer breaks a rule. The message is upstream's. */
export class InvalidReviewError extends Error {
  override readonly name = "InvalidReviewError";
}

/** The answer has a field of the wrong type. The message is upstream's. */
export class UndecodableReviewError extends Error {
  override readonly name = "UndecodableReviewError";
}

/**
 * Reads the answer of a webhook. Checks type, uid and patch of v1 answers only.
 * @throws InvalidReviewError
 * @throws UndecodableReviewError
 */
export function readReview(
  review: JsonObject,
  { version, uid, isMutating }: { readonly version: ReviewVersion; readonly uid: string; readonly isMutating: boolean },
): ReviewResponse {
  const given = review["response"];
  if (given !== undefined && given !== null && !isJsonObject(given))
    throw wrongType("response", given, "v1.AdmissionResponse");
  const response = given ?? undefined;
  const fields = response === undefined ? undefined : readFields(response);
  if (fields === undefined) throw new InvalidReviewError("webhook response was absent");
  if (version === "v1beta1") {
    return { ...fields, patch: isMutating ? fields.patch : undefined, patchType: "JSONPatch" };
  }
  if (fields.uid !== uid) {
    throw new InvalidReviewError(`expected response.uid=${quoteText(uid)}, got ${quoteText(fields.uid)}`);
  }
  const { apiVersion = "", kind: answered = "" } = review;
  if (apiVersion !== `${group}/v1` || answered !== kind) {
    const got = documentTypeText(String(apiVersion), String(answered));
    throw new InvalidReviewError(`expected webhook response of ${group}/v1, Kind=${kind}, got ${got}`);
  }
  checkPatch(fields, isMutating);
  return { ...fields, patchType: fields.patchType ?? "" };
}

interface ResponseFields extends Omit<ReviewResponse, "patchType"> {
  readonly uid: string;
  readonly patchType: string | undefined;
}

function checkPatch({ patch, patchType }: ResponseFields, isMutating: boolean): void {
  if (!isMutating) {
    if (patch !== undefined) throw new InvalidReviewError("validating webhook may not return response.patch");
    if (patchType !== undefined) throw new InvalidReviewError("validating webhook may not return response.patchType");
    return;
  }
  if (patch !== undefined && patchType === undefined) {
    throw new InvalidReviewError("webhook returned response.patch but not response.patchType");
  }
  if (patch === undefined && patchType !== undefined) {
    throw new InvalidReviewError("webhook returned response.patchType but not response.patch");
  }
  if (patchType === "") throw new InvalidReviewError('webhook returned invalid response.patchType of ""');
}

function readFields(response: JsonObject): ResponseFields {
  const { allowed = null, uid, status = null, patch, patchType, warnings = null, auditAnnotations = null } = response;
  if (allowed !== null && typeof allowed !== "boolean") throw wrongType("response.allowed", allowed, "bool");
  if (status !== null && !isJsonObject(status)) throw wrongType("response.status", status, "v1.Status");
  const bytes = textOf(patch, "response.patch");
  return {
    isAllowed: allowed === true,
    uid: textOf(uid, "response.uid") ?? "",
    result: status === null ? undefined : readStatus(status),
    patch: bytes === undefined || bytes === "" ? undefined : decodeBase64(bytes),
    patchType: textOf(patchType, "response.patchType"),
    warnings: textsOf(warnings),
    auditAnnotations: textMapOf(auditAnnotations),
  };
}

function readStatus(status: JsonObject): Partial<Status> {
  const { code = null } = status;
  if (code !== null && typeof code !== "number") throw wrongType("response.status.code", code, "int32");
  for (const field of ["status", "message", "reason"]) textOf(status[field], `response.status.${field}`);
  for (const field of ["details", "metadata"]) {
    const value = status[field] ?? null;
    if (value !== null && !isJsonObject(value)) throw wrongType(`response.status.${field}`, value, "v1.StatusDetails");
  }
  return status as Partial<Status>;
}

function textOf(value: JsonValue | undefined, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw wrongType(field, value, "string");
}

function textsOf(value: JsonValue): string[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw wrongType("response.warnings", value, "[]string");
  return value.map((text) => textOf(text, "response.warnings") ?? "");
}

function textMapOf(value: JsonValue): Record<string, string> {
  if (value === null) return {};
  if (!isJsonObject(value)) throw wrongType("response.auditAnnotations", value, "map[string]string");
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => [key, textOf(text, "response.auditAnnotations") ?? ""]),
  );
}

function decodeBase64(text: string): Uint8Array {
  const plain = text.replaceAll(/[\r\n]/g, "");
  const bytes = Buffer.from(plain, "base64");
  if (bytes.toString("base64") === plain) return bytes;
  throw new UndecodableReviewError("illegal base64 data at input byte 0");
}

function wrongType(field: string, value: JsonValue, type: string): UndecodableReviewError {
  const found = Array.isArray(value)
    ? "array"
    : typeof value === "boolean"
      ? "bool"
      : isJsonObject(value)
        ? "object"
        : typeof value;
  return new UndecodableReviewError(
    `json: cannot unmarshal ${found} into Go struct field AdmissionReview.${field} of type ${type}`,
  );
}

/** @throws Error with upstream's text for a patch that is not a list of operations */
export function readPatch(bytes: Uint8Array): readonly JsonValue[] {
  let value: JsonValue;
  try {
    value = parseJson(bytes, { strict: false }).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const [first] = Buffer.from(bytes).toString("utf8").trim();
    throw new Error(
      first === undefined
        ? "unexpected end of JSON input"
        : `invalid character '${first}' looking for beginning of value`,
    );
  }
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  const found = isJsonObject(value) ? "object" : typeof value === "boolean" ? "bool" : typeof value;
  throw new Error(`json: cannot unmarshal ${found} into Go value of type jsonpatch.Patch`);
}
