import { CborDecodeError, decodeCborInSteps } from "../api/codec/cbor.ts";
import { JsonSyntaxError, parseJsonInSteps } from "../api/codec/json.ts";
import { type UnknownEnvelope, unwrapUnknown } from "../api/codec/protobuf-envelope.ts";
import { ProtobufDecodeError } from "../api/codec/protobuf-wire.ts";
import type { MediaType } from "../api/codec/representation.ts";
import { parseYamlInSteps, yamlValuesMax } from "../api/codec/yaml.ts";
import { YamlSyntaxError } from "../api/codec/yaml-syntax.ts";
import type { JsonValue } from "../api/json.ts";
import { objectValuesMax } from "../api/object-extent.ts";
import { type StatusError, status } from "../api/status.ts";
import type { Eventual } from "../process/eventual.ts";
import { runSliced } from "../process/sliced.ts";

export interface DecodeBodyOptions {
  /** Whether to look for duplicate keys, for field validation Warn and Strict. */
  readonly strict: boolean;
  /** Accepted media types, in the order in which a refusal lists them. */
  readonly accepted: readonly MediaType[];
  /** Whether CBOR is enabled. Otherwise it is refused even if `accepted` names it. */
  readonly cbor: boolean;
  /** The expected kind, for error messages. */
  readonly expectedKind?: string;
}

/** A protobuf body is readable only with the schema of its kind, so it stays in its envelope. */
export type DecodedBody = DecodedDocument | DecodedProtobuf;
export interface DecodedDocument {
  readonly kind: "document";
  readonly mediaType: Exclude<MediaType, "application/vnd.kubernetes.protobuf">;
  readonly value: JsonValue;
  /**
   * Paths of duplicate keys in JSON, for `duplicate field "<path>"`; empty unless strict. CBOR bodies may not have any.
   */
  readonly duplicates: readonly string[];
  /** The duplicate keys of YAML, in upstream's words; empty unless strict. */
  readonly duplicateLines: readonly string[];
}
export interface DecodedProtobuf {
  readonly kind: "protobuf";
  readonly mediaType: "application/vnd.kubernetes.protobuf";
  readonly envelope: UnknownEnvelope;
}

/**
 * Decodes a request body by its Content-Type, which is JSON by default. Parameters are ignored. A body that takes long
 * is decoded in several turns of the event loop.
 * @throws StatusError 415 for an unaccepted type, 400 for an invalid body, 413 for more than `objectValuesMax` values;
 *     also as a rejection
 */
export function decodeBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  options: DecodeBodyOptions,
): Eventual<DecodedBody> {
  return runSliced(decodeInSteps(bytes, contentType, options));
}

function* decodeInSteps(
  bytes: Uint8Array,
  contentType: string | undefined,
  options: DecodeBodyOptions,
): Generator<void, DecodedBody> {
  const mediaType = acceptedMediaType(contentType, options);
  try {
    return yield* decodeAs(mediaType, bytes, options.strict);
  } catch (error) {
    const problem = problemOf(error);
    throw problem === undefined ? error : malformedBody(bytes, problem, options.expectedKind);
  }
}

/** Returns the media type of a Content-Type header in lower case, without parameters; "" without one. */
export function baseMediaType(contentType: string | undefined): string {
  const header = contentType ?? "";
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

/**
 * Returns the 400 for a body whose apiVersion and kind are unreadable. If a kind is expected, the text has upstream's
 * form and shows the start of the body.
 */
export function malformedBody(bytes: Uint8Array, problem: string, expectedKind?: string): StatusError {
  if (expectedKind === undefined) return status.badRequest(problem);
  return status.badRequest(
    `the object provided is unrecognized (must be of type ${expectedKind}): ${problem} (${summarize(bytes)})`,
  );
}

function acceptedMediaType(contentType: string | undefined, options: DecodeBodyOptions): MediaType {
  const accepted = options.accepted.filter((type) => type !== "application/cbor" || options.cbor);
  const wanted = baseMediaType(contentType) || "application/json";
  const found = accepted.find((type) => type === wanted);
  if (found === undefined) throw status.unsupportedMediaType(accepted);
  return found;
}

function* decodeAs(mediaType: MediaType, bytes: Uint8Array, strict: boolean): Generator<void, DecodedBody> {
  switch (mediaType) {
    case "application/json":
      return {
        kind: "document",
        mediaType,
        ...(yield* parseJsonInSteps(bytes, { strict, valuesMax: objectValuesMax })),
        duplicateLines: [],
      };
    case "application/yaml": {
      const { value, duplicateLines } = yield* parseYamlInSteps(bytes, { strict, valuesMax: yamlValuesMax });
      return { kind: "document", mediaType, value, duplicates: [], duplicateLines };
    }
    case "application/cbor":
      return {
        kind: "document",
        mediaType,
        value: yield* decodeCborInSteps(bytes, objectValuesMax),
        duplicates: [],
        duplicateLines: [],
      };
    case "application/vnd.kubernetes.protobuf":
      return { kind: "protobuf", mediaType, envelope: unwrapUnknown(bytes) };
  }
}

/** Describes a mistake in the body. Returns undefined for an error that the client did not cause. */
function problemOf(error: unknown): string | undefined {
  if (error instanceof JsonSyntaxError) return `couldn't get version/kind; json parse error: ${error.message}`;
  const isTheirs =
    error instanceof YamlSyntaxError || error instanceof CborDecodeError || error instanceof ProtobufDecodeError;
  return isTheirs ? error.message : undefined;
}

const summaryBytes = 30;

/** Returns the start of the body, as text if it looks like JSON, otherwise in hexadecimal. */
function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const start = Buffer.from(bytes.subarray(0, summaryBytes));
  const shown = start.toString(bytes[0] === 0x7b ? "utf8" : "hex");
  return bytes.length > summaryBytes ? `${shown} ...` : shown;
}
