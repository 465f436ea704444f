import { apiVersionOf, type GroupVersionKind } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import { decodeBody } from "../../codec/decode-body.ts";
import { decodeMessage, ProtobufDecodeError } from "../../codec/protobuf.ts";
import { decodeTyped } from "../../schema/decode.ts";
import { DecodeTypeError } from "../../schema/decode-error.ts";
import type { StructSchema } from "../../schema/schema.ts";
import { header } from "../exchange.ts";
import { bodyMediaTypes, type ResourceRequestCall } from "./endpoint.ts";
import type { FieldValidation } from "./write-options.ts";

/** The kind that a body has to be of, and how to read it. */
export interface ExpectedBody {
  readonly gvk: GroupVersionKind;
  readonly schema: StructSchema;
}

/**
 * Reads a body of POST and PUT in any accepted media type into an object of the expected kind. Unknown and duplicate
 * fields are dropped, and reported as `fieldValidation` says.
 * @throws StatusError 400, 413, 415
 */
export async function readObjectBody(
  call: ResourceRequestCall,
  expected: ExpectedBody,
  fieldValidation: FieldValidation,
): Promise<KubeObject> {
  const { exchange, parts } = call;
  const bytes = await exchange.request.body();
  const body = decodeBody(bytes, header(exchange.request, "content-type"), {
    strict: fieldValidation !== "Ignore",
    accepted: bodyMediaTypes,
    cbor: parts.cbor,
    expectedKind: expected.gvk.kind,
  });
  if (body.kind === "protobuf") {
    const { apiVersion, kind, raw } = body.envelope;
    refuseOtherType({ apiVersion, kind }, expected.gvk);
    const value = orBadRequest(expected.gvk, () => decodeMessage(expected.schema, raw));
    return typedObject(call, value, expected, "Ignore", []);
  }
  if (!isJsonObject(body.value)) throw badType(expected.gvk, "json: cannot unmarshal into Go value of a struct");
  refuseOtherType(body.value, expected.gvk);
  return typedObject(call, body.value, expected, fieldValidation, body.duplicates);
}

/**
 * An untyped document as an object of the expected kind, with defaults still missing.
 * @throws StatusError 400 for a value of the wrong type, and in Strict for unknown and duplicate fields
 */
export function typedObject(
  call: ResourceRequestCall,
  value: JsonObject,
  expected: ExpectedBody,
  fieldValidation: FieldValidation,
  duplicates: readonly string[],
): KubeObject {
  const { gvk, schema } = expected;
  const { object, unknownFields } = orBadRequest(gvk, () => decodeTyped(schema, value, { kind: gvk.kind }));
  if (fieldValidation !== "Ignore") {
    const problems = [
      ...unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`),
      ...duplicates.map((field) => `duplicate field ${JSON.stringify(field)}`),
    ];
    if (problems.length > 0 && fieldValidation === "Strict") {
      throw badType(gvk, `strict decoding error: ${problems.join(", ")}`);
    }
    for (const problem of problems) call.exchange.warnings.push(problem);
  }
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = object;
  const metadata = (object["metadata"] ?? {}) as JsonObject;
  return { kind: gvk.kind, apiVersion: apiVersionOf(gvk), ...fields, metadata } as unknown as KubeObject;
}

function orBadRequest<T>(gvk: GroupVersionKind, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeTypeError || error instanceof ProtobufDecodeError) {
      throw badType(gvk, error.message);
    }
    throw error;
  }
}

function badType({ kind, version }: GroupVersionKind, why: string): Error {
  return status.badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`);
}

/** A body without type takes the URL's. */
function refuseOtherType(body: { apiVersion?: JsonValue; kind?: JsonValue }, gvk: GroupVersionKind): void {
  const expected = apiVersionOf(gvk);
  const { apiVersion = "", kind = "" } = body;
  if (apiVersion !== "" && apiVersion !== null && apiVersion !== expected) {
    throw status.badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== "" && kind !== null && kind !== gvk.kind) {
    throw badType(gvk, `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(expected)}`);
  }
}
