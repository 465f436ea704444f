import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { decodeCbor } from "../../api/codec/cbor.ts";
import { toText } from "../../api/codec/byte-text.ts";
import { parseJson, stringifyJson } from "../../api/codec/json.ts";
import { parseYaml } from "../../api/codec/yaml.ts";

/** A longer object is left out of its event, which then says so. */
export const objectBytesMax = 10 * 1024 * 1024;

/** Reads a protobuf message as the JSON of its kind; undefined for a kind that is not known. */
export type DecodeProtobuf = (bytes: Uint8Array) => JsonObject | undefined;

/** A body as it stands in an event: JSON on one line; undefined for one that cannot be read. */
export function objectText(bytes: Uint8Array, contentType: string, decodeProtobuf: DecodeProtobuf): string | undefined {
  try {
    if (!/[+/]json/.test(contentType)) return stringifyJson(decode(bytes, contentType, decodeProtobuf) ?? null);
    const text = toText(bytes);
    // The bytes are kept as they came, so that no number loses a digit; it is only made sure that they are JSON.
    JSON.parse(text);
    return onOneLine(text);
  } catch {
    return undefined;
  }
}

function onOneLine(text: string): string {
  const trimmed = text.trim();
  // Outside of strings line breaks are white space, and inside they are escaped.
  return /[\n\r]/.test(trimmed) ? trimmed.replaceAll(/[\n\r]+\s*/g, "") : trimmed;
}

/** The object, or each item of the list, without its managedFields. */
export function withoutManagedFields(text: string): string {
  try {
    const { value } = parseJson(new TextEncoder().encode(text), { strict: false });
    if (!isJsonObject(value)) return text;
    const items = Array.isArray(value["items"]) ? value["items"] : [];
    for (const object of [value, ...items]) {
      if (isJsonObject(object) && isJsonObject(object["metadata"])) delete object["metadata"]["managedFields"];
    }
    return stringifyJson(value);
  } catch {
    return text;
  }
}

function decode(bytes: Uint8Array, contentType: string, decodeProtobuf: DecodeProtobuf): JsonValue | undefined {
  if (contentType.includes("yaml")) return parseYaml(bytes, { strict: false }).value;
  if (contentType.includes("cbor")) return decodeCbor(bytes);
  return contentType.includes("protobuf") ? decodeProtobuf(bytes) : undefined;
}
