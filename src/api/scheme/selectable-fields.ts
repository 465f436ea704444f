import { isJsonObject, type JsonValue } from "../json.ts";
import type { FieldReader, ResourceInfo } from "./resource.ts";

/** Labels that every resource answers from its key, without a reader. */
const keyLabels: ReadonlySet<string> = new Set(["metadata.name", "metadata.namespace"]);

/**
 * Returns readers of the labels of field selectors other than name and namespace: `special` ones before those of paths.
 */
export function selectableFields(
  labels: readonly string[],
  special: Readonly<Record<string, FieldReader>> = {},
): ReadonlyMap<string, FieldReader> {
  const readers = new Map<string, FieldReader>();
  for (const label of labels) {
    if (!keyLabels.has(label)) readers.set(label, readerOf(label));
  }
  for (const [label, reader] of Object.entries(special)) readers.set(label, reader);
  return readers;
}

/** Explains why a label is not supported. */
export function unknownLabelText(label: string, info: ResourceInfo): string {
  if (info.labelRefusal !== undefined) return info.labelRefusal(label, info);
  if (info.selectableFields.size > 0) return `field label not supported: ${label}`;
  return `${JSON.stringify(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** Reads the scalar at a dotted path as text. */
export function readerOf(path: string): FieldReader {
  const segments = path.split(".");
  return (object) => textAt(object, segments);
}

/** Like readerOf for a boolean that is "false" when absent. */
export function flagReaderOf(path: string): FieldReader {
  const segments = path.split(".");
  return (object) => textAt(object, segments) || "false";
}

/** Like readerOf for a number that is 0 when absent. */
export function countReaderOf(path: string): FieldReader {
  const segments = path.split(".");
  return (object) => textAt(object, segments) || "0";
}

/** Reads the scalar at a path as text; "" for anything else. */
export function textAt(value: JsonValue, path: readonly string[]): string {
  const found = valueAt(value, path);
  return typeof found === "object" || found === undefined ? "" : String(found);
}

/** Returns the value at a path; undefined if it is absent. */
export function valueAt(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const segment of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, segment)) return undefined;
    current = current[segment];
  }
  return current;
}
