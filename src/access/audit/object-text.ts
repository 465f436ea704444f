import { toText } from "../../api/codec/byte-text.ts";
import { decodeCborInSteps } from "../../api/codec/cbor.ts";
import { parseJsonInSteps, stringifyJson } from "../../api/codec/json.ts";
import { jsonExtent } from "../../api/codec/json-extent.ts";
import { parseYamlInSteps, yamlValuesMax } from "../../api/codec/yaml.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectValuesMax } from "../../api/object-extent.ts";

/** Maximum size of an object. A larger one is left out of its event, which is marked. */
export const objectBytesMax = 10 * 1024 * 1024;

/**
 * Decodes a protobuf message into the JSON of its kind, and yields now and then. Returns undefined for an unknown kind.
 */
export type DecodeProtobuf = (bytes: Uint8Array, valuesMax: number) => Generator<void, JsonObject | undefined>;

export interface ReadObject {
  readonly contentType: string;
  readonly decodeProtobuf: DecodeProtobuf;
  /** Whether a client made the bytes. Such a body may have no more values than the server takes. */
  readonly isRequest: boolean;
}

/**
 * Returns a body as one line of JSON for an event, or undefined for one that is unreadable or has too many values.
 * Yields now and then.
 */
export function* objectText(bytes: Uint8Array, options: ReadObject): Generator<void, string | undefined> {
  const contentType = options.contentType.toLowerCase();
  try {
    if (!/[+/]json/.test(contentType)) {
      const value = yield* decode(bytes, { ...options, contentType });
      yield;
      return stringifyJson(value ?? null);
    }
    const text = toText(bytes);
    if (options.isRequest && jsonExtent(text).values > objectValuesMax) return undefined;
    yield;
    // Keep the bytes as received, so that no number loses a digit. Parsing only checks that they are JSON.
    JSON.parse(text);
    yield;
    return onOneLine(text);
  } catch {
    return undefined;
  }
}

function onOneLine(text: string): string {
  const trimmed = text.trim();
  // Outside of strings, line breaks are white space; inside, they are escaped.
  return /[\n\r]/.test(trimmed) ? trimmed.replaceAll(/[\n\r]+\s*/g, "") : trimmed;
}

/** Removes managedFields from the object, or from each item of the list. Yields now and then. */
export function* withoutManagedFields(text: string): Generator<void, string> {
  try {
    const { value } = yield* parseJsonInSteps(new TextEncoder().encode(text), { strict: false });
    if (!isJsonObject(value)) return text;
    const items = Array.isArray(value["items"]) ? value["items"] : [];
    for (const object of [value, ...items]) {
      if (isJsonObject(object) && isJsonObject(object["metadata"])) delete object["metadata"]["managedFields"];
    }
    yield;
    return stringifyJson(value);
  } catch {
    return text;
  }
}

function* decode(
  bytes: Uint8Array,
  { contentType, decodeProtobuf, isRequest }: ReadObject,
): Generator<void, JsonValue | undefined> {
  const valuesMax = isRequest ? objectValuesMax : Number.POSITIVE_INFINITY;
  if (contentType.includes("yaml")) {
    const parsed = yield* parseYamlInSteps(bytes, { strict: false, valuesMax: isRequest ? yamlValuesMax : valuesMax });
    return parsed.value;
  }
  if (contentType.includes("cbor")) return yield* decodeCborInSteps(bytes, valuesMax);
  return contentType.includes("protobuf") ? yield* decodeProtobuf(bytes, valuesMax) : undefined;
}
