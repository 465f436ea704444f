import { thrownText } from "../../process/thrown-text.ts";
import { normalizeDuration } from "../go-duration.ts";
import { isJsonObject, type JsonValue } from "../json.ts";
import { canonicalQuantity } from "../quantity.ts";
import { DecodeTypeError, type FieldPlace, wrongNumber, wrongType } from "./decode-error.ts";
import type { ScalarKind } from "./schema.ts";
import { normalizeMicroTime, normalizeTime } from "./time-text.ts";

const paddingCode = 61;

/** Finds the place of the value in the document. Called only to report an error. */
export type PlaceOf = () => FieldPlace | undefined;
/**
 * Returns the value as Go would write it again. Never called with null.
 * @param goType Go's name of the type for errors, if it is a named one
 * @throws DecodeTypeError
 */
export type ScalarDecoder = (value: JsonValue, place: PlaceOf, goType?: string) => JsonValue;

/** A decoder, and the zero value of its type. */
export interface ScalarCodec {
  readonly decode: ScalarDecoder;
  readonly zero: JsonValue;
  /** True for structs in Go, whose zero `omitempty` does not leave out. Each of them decodes itself. */
  readonly structLike: boolean;
}

export const scalarCodecs: Readonly<Record<ScalarKind, ScalarCodec>> = {
  string: { decode: text, zero: "", structLike: false },
  bool: { decode: flag, zero: false, structLike: false },
  int32: { decode: integer("int32", -(2n ** 31n), 2n ** 31n - 1n), zero: 0, structLike: false },
  int64: { decode: integer("int64", -(2n ** 63n), 2n ** 63n - 1n), zero: 0, structLike: false },
  uint8: { decode: integer("uint8", 0n, 255n), zero: 0, structLike: false },
  uint32: { decode: integer("uint32", 0n, 2n ** 32n - 1n), zero: 0, structLike: false },
  uint64: { decode: integer("uint64", 0n, 2n ** 64n - 1n), zero: 0, structLike: false },
  float64: { decode: float, zero: 0, structLike: false },
  bytes: { decode: base64, zero: "", structLike: false },
  any: { decode: (value) => value, zero: null, structLike: false },
  rawExtension: { decode: (value) => value, zero: null, structLike: true },
  fieldsV1: { decode: jsonObject, zero: null, structLike: true },
  quantity: { decode: quantity, zero: "0", structLike: true },
  intOrString: { decode: intOrString, zero: 0, structLike: true },
  time: { decode: parsed(normalizeTime), zero: null, structLike: true },
  microTime: { decode: parsed(normalizeMicroTime), zero: null, structLike: true },
  duration: { decode: parsed(normalizeDuration), zero: "0s", structLike: true },
};

function text(value: JsonValue, place: PlaceOf, goType = "string"): JsonValue {
  if (typeof value === "string") return value;
  throw wrongType(value, goType, place());
}

function flag(value: JsonValue, place: PlaceOf, goType = "bool"): JsonValue {
  if (typeof value === "boolean") return value;
  throw wrongType(value, goType, place());
}

function integer(plainType: string, min: bigint, max: bigint): ScalarDecoder {
  const [low, high] = [Number(min), Number(max)];
  return (value, place, goType = plainType) => {
    if (typeof value === "number") {
      if (Number.isSafeInteger(value) && value >= low && value <= high) return value === 0 ? 0 : value;
      // Comparing number with BigInt is exact, so a double just above the limit does not pass.
      if (Number.isInteger(value) && value >= min && value <= max) return value === 0 ? 0 : value;
      throw wrongNumber(value, goType, place());
    }
    if (typeof value !== "bigint") throw wrongType(value, goType, place());
    if (value < min || value > max) throw wrongNumber(value, goType, place());
    return narrow(value);
  };
}

/** Returns a number wherever that is exact, so that equal values are equal in JavaScript. */
function narrow(value: bigint): number | bigint {
  const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
  return isSafe ? Number(value) : value;
}

function float(value: JsonValue, place: PlaceOf): JsonValue {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint") return Number(value);
  throw wrongType(value, "float64", place());
}

function jsonObject(value: JsonValue, place: PlaceOf): JsonValue {
  if (isJsonObject(value)) return value;
  throw wrongType(value, "v1.FieldsV1", place());
}

function quantity(value: JsonValue): JsonValue {
  if (typeof value === "object" || typeof value === "boolean") {
    throw new DecodeTypeError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return reportingWhy(() => canonicalQuantity(String(value).trim()));
}

function intOrString(value: JsonValue, place: PlaceOf): JsonValue {
  if (typeof value === "string") return value;
  return scalarCodecs.int32.decode(value, place);
}

/** Makes a decoder of text that is stored in a normalized form. */
function parsed(normalize: (text: string) => string | undefined): ScalarDecoder {
  return (value, place) => {
    if (typeof value !== "string") throw wrongType(value, "string", place());
    return reportingWhy(() => normalize(value) ?? null);
  };
}

function reportingWhy(run: () => JsonValue): JsonValue {
  try {
    return run();
  } catch (error) {
    throw new DecodeTypeError(thrownText(error));
  }
}

const byte = integer("uint8", 0n, 255n);

/** Decodes standard base64 with padding. As in Go, line breaks are skipped, and bytes may be a list of numbers. */
function base64(value: JsonValue, place: PlaceOf): JsonValue {
  if (Array.isArray(value)) {
    const bytes = value.map((item) => (item === null ? 0 : Number(byte(item, place))));
    return Buffer.from(bytes).toString("base64");
  }
  if (typeof value !== "string") throw wrongType(value, "[]uint8", place());
  const invalidAt = invalidBase64At(value);
  if (invalidAt >= 0) throw new DecodeTypeError(`illegal base64 data at input byte ${invalidAt}`);
  const clean = value.includes("\n") || value.includes("\r") ? value.replaceAll("\n", "").replaceAll("\r", "") : value;
  return hasStrayBits(clean) ? Buffer.from(clean, "base64").toString("base64") : clean;
}

/**
 * Returns the index that Go reports as the first illegal byte, or -1. For groups of four that end early it counts back
 * from the end.
 */
function invalidBase64At(value: string): number {
  let inGroup = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (isLineBreak(code)) continue;
    if (code === paddingCode) return invalidPaddingAt(value, at, inGroup);
    if (!isBase64(code)) return at;
    inGroup = (inGroup + 1) % 4;
  }
  return inGroup === 0 ? -1 : value.length - inGroup;
}

/** Checks padding, which must end the text and complete its last group. */
function invalidPaddingAt(value: string, at: number, inGroup: number): number {
  if (inGroup < 2) return at;
  let next = skipLineBreaks(value, at + 1);
  if (inGroup === 2) {
    if (next === value.length) return next;
    if (value.charCodeAt(next) !== paddingCode) return next - 1;
    next = skipLineBreaks(value, next + 1);
  }
  return next < value.length ? next : -1;
}

function skipLineBreaks(value: string, from: number): number {
  let at = from;
  while (at < value.length && isLineBreak(value.charCodeAt(at))) at++;
  return at;
}

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13;
}

function isBase64(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 43 ||
    code === 47
  );
}

/** Reports whether the last character has bits that belong to no byte. Encoding the bytes again clears them. */
function hasStrayBits(value: string): boolean {
  if (!value.endsWith("=")) return false;
  const isDouble = value.endsWith("==");
  const last = value[value.length - (isDouble ? 3 : 2)] as string;
  return isDouble ? !"AQgw".includes(last) : !"AEIMQUYcgkosw048".includes(last);
}
