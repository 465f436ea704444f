import { compareTexts } from "../api/code-points.ts";
import { JsonSyntaxError, parseJson, stringifyJson } from "../api/codec/json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { compareValues } from "./compare-values.ts";
import type { FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { typeError } from "./type-errors.ts";
import type { TrackedVersion } from "./versions.ts";

/** The manager whose applies go together with its client-side ones. */
export const kubectlManager = "kubectl";
const annotation = "kubectl.kubernetes.io/last-applied-configuration";
const annotationBytesMax = 256 * 1024;

/**
 * The fields that client-side apply has set, and whose values are unchanged since. kubectl may take them over without
 * asking, because they are its own. Undefined if the live object does not record them.
 */
export function clientSideFields(live: JsonObject, { apiVersion, type }: TrackedVersion): FieldSet | undefined {
  const text = annotationsOf(live)?.[annotation];
  const applied = typeof text === "string" ? parsedObject(text) : undefined;
  if (applied === undefined || applied["apiVersion"] !== apiVersion) return undefined;
  const strict = { allowsDuplicates: false };
  if (typeError(live, type, strict) !== undefined || typeError(applied, type, strict) !== undefined) return undefined;
  const { changed, removed } = compareValues(applied, live, type);
  return fieldsOf(applied, type).difference(changed).difference(removed);
}

/** Returns undefined unless the text is an object with a kind. */
function parsedObject(text: string): JsonObject | undefined {
  try {
    const { value } = parseJson(Buffer.from(text), { strict: false });
    return isJsonObject(value) && typeof value["kind"] === "string" && value["kind"] !== "" ? value : undefined;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return undefined;
  }
}

/** Returns the object with the applied document in its annotation, if it has that annotation. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const present = annotations?.[annotation];
  if (annotations === undefined || typeof present !== "string" || present === "") return object;
  const text = `${stringifyJson(sorted(withoutAnnotation(applied)))}\n`;
  if (text === present) return object;
  const { [annotation]: _, ...others } = annotations;
  const updated: JsonObject = { ...others, [annotation]: text };
  const metadata = object["metadata"] as JsonObject;
  return {
    ...object,
    metadata: { ...metadata, annotations: byteLength(updated) > annotationBytesMax ? others : updated },
  };
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object["metadata"];
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const annotations = annotationsOf(applied);
  if (annotations === undefined) return applied;
  const { [annotation]: _, ...others } = annotations;
  return { ...applied, metadata: { ...(applied["metadata"] as JsonObject), annotations: others } };
}

/** Keys in the order in which Go writes a map. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort(compareTexts);
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] as JsonValue)]));
}

function byteLength(annotations: JsonObject): number {
  return Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
}
