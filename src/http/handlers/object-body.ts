import { decodeMessage, decodeMessageInSteps, ProtobufDecodeError } from "../../api/codec/protobuf.ts";
import type { GroupVersionKind } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectValuesMax, ordinaryBytesMax } from "../../api/object-extent.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { DecodeOptions } from "../../api/scheme/object-form.ts";
import { withType } from "../../api/scheme/with-type.ts";
import { runSliced } from "../../process/sliced.ts";
import { nextTurn } from "../../process/turn.ts";
import { recordObject } from "../../request/annotations.ts";
import { header } from "../../request/exchange.ts";
import { decodeBody } from "../decode-body.ts";
import { cannotHandle, type ExpectedBody, refuseOtherCustomKind, refuseOtherType, typedDocument } from "./body-type.ts";
import { bodyMediaTypes, type ResourceRequestCall } from "./endpoint.ts";
import type { FieldValidation } from "./write-options.ts";

/**
 * Reads the body of a POST or PUT in any accepted media type as an object of the expected kind. Drops unknown and
 * duplicate fields, and reports them according to `fieldValidation`.
 * @throws StatusError 400, 413, 415
 */
export async function readObjectBody(
  call: ResourceRequestCall,
  expected: ExpectedBody,
  fieldValidation: FieldValidation,
): Promise<KubeObject> {
  const object = await decodeObject(call, expected, fieldValidation);
  const { audit } = call.exchange;
  if (audit !== undefined) recordObject(audit, object.metadata);
  return object;
}

async function decodeObject(
  call: ResourceRequestCall,
  expected: ExpectedBody,
  fieldValidation: FieldValidation,
): Promise<KubeObject> {
  const { exchange, parts } = call;
  const bytes = await exchange.request.body();
  const mayBeLarge = bytes.length > ordinaryBytesMax;
  if (mayBeLarge) await nextTurn();
  const decoded = decodeBody(bytes, header(exchange.request, "content-type"), {
    strict: fieldValidation !== "Ignore",
    accepted: bodyMediaTypes,
    cbor: parts.cbor,
    expectedKind: expected.gvk.kind,
  });
  const body = decoded instanceof Promise ? await decoded : decoded;
  if (body.kind === "protobuf") {
    const { apiVersion, kind, raw } = body.envelope;
    refuseOtherType({ apiVersion, kind }, expected, parts.catalog);
    const { form } = expected;
    if (form.kind !== "struct") throw badType(expected.gvk, "it has no protobuf form");
    const message = mayBeLarge
      ? await runSliced(messageInSteps(expected.gvk, form.schema, raw))
      : orBadRequest(expected.gvk, () => decodeMessage(form.schema, raw, objectValuesMax));
    if (mayBeLarge) await nextTurn();
    const { object } = orBadRequest(expected.gvk, () => typedObject(message, expected, { takesOver: true }));
    if (mayBeLarge) await nextTurn();
    return object;
  }
  const document = typedDocument(body.value, bytes, expected.gvk.kind);
  refuseOtherType(document, expected, parts.catalog);
  if (mayBeLarge) await nextTurn();
  // Aliases of a YAML document share one value. A copy for a custom kind has no prototype, so that its fields may have
  // any name.
  const takesOver = body.mediaType !== "application/yaml" && expected.form.kind === "struct";
  const { object, unknownFields } = orBadRequest(expected.gvk, () => typedObject(document, expected, { takesOver }));
  const lines = fieldValidation === "Strict" ? repeatedKeysError(body.duplicateLines) : body.duplicateLines;
  const problems = fieldProblems(unknownFields, body.duplicates);
  reportFields(call, [...lines, ...problems], fieldValidation, (why) => badType(expected.gvk, why));
  refuseOtherCustomKind(document, object, expected);
  if (mayBeLarge) await nextTurn();
  return object;
}

/**
 * Returns an untyped document as an object of the expected kind, without defaults, and the paths of unknown fields.
 * @param reading.takesOver whether this call owns the document, so that its parts need not be copied
 * @throws DecodeTypeError for a value of the wrong type
 */
export function typedObject(
  value: JsonObject,
  { gvk, form }: ExpectedBody,
  reading: Omit<DecodeOptions, "kind"> = {},
): { object: KubeObject; unknownFields: readonly string[] } {
  const resetsOwners = isEmptyList(isJsonObject(value["metadata"]) ? value["metadata"]["managedFields"] : undefined);
  const { object, unknownFields } = form.decode(value, { kind: gvk.kind, ...reading });
  const typed = withType(object, gvk);
  typed.metadata ??= {};
  // Types omit empty lists, but an empty list here means that all owners are removed.
  if (resetsOwners) typed.metadata.managedFields = [];
  return { object: typed, unknownFields };
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Formats `unknown field "spec.a"` as clients expect it. */
export function unknownFieldText(field: string): string {
  return `unknown field ${JSON.stringify(field)}`;
}

/** Formats `duplicate field "spec.a"`. */
export function duplicateFieldText(field: string): string {
  return `duplicate field ${JSON.stringify(field)}`;
}

/** Returns the texts of unknown and duplicate fields. An unknown field is not also reported as duplicate. */
function fieldProblems(unknown: readonly string[], duplicates: readonly string[]): string[] {
  const isUnknown = (field: string) =>
    unknown.some((path) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`));
  const repeated = duplicates.filter((field) => !isUnknown(field));
  return [...unknown.map(unknownFieldText), ...repeated.map(duplicateFieldText)];
}

/** Joins the duplicate keys of a YAML document into one error, as Go does. */
export function repeatedKeysError(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [["yaml: unmarshal errors:", ...lines].join("\n  ")];
}

/** Warns of unknown and duplicate fields, or ignores them. In Strict it throws the error that `refusal` returns */
export function reportFields(
  { exchange }: ResourceRequestCall,
  problems: readonly string[],
  fieldValidation: FieldValidation,
  refusal: (why: string) => Error,
): void {
  if (fieldValidation === "Ignore" || problems.length === 0) return;
  if (fieldValidation === "Strict") throw refusal(`strict decoding error: ${problems.join(", ")}`);
  exchange.warnings.push(...problems);
}

function orBadRequest<T>(gvk: GroupVersionKind, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw undecodable(gvk, error);
  }
}

/** Decodes a long message. @throws StatusError 400, 413 */
function* messageInSteps(gvk: GroupVersionKind, schema: StructSchema, raw: Uint8Array): Generator<void, JsonObject> {
  try {
    return yield* decodeMessageInSteps(schema, raw, objectValuesMax);
  } catch (error) {
    throw undecodable(gvk, error);
  }
}

/** Returns the refusal of a body for a mistake in it, and any other error unchanged. */
function undecodable(gvk: GroupVersionKind, error: unknown): unknown {
  const isTheirs = error instanceof DecodeTypeError || error instanceof ProtobufDecodeError;
  return isTheirs ? badType(gvk, error.message) : error;
}

function badType(gvk: GroupVersionKind, why: string): Error {
  return cannotHandle(gvk, gvk.kind, why);
}
