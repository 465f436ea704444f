import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import type { FieldReader } from "./resource.ts";

/** Labels whose value is not simply the field of that path; by `<group>/<resource>`. */
const specialReaders: Readonly<Record<string, Readonly<Record<string, FieldReader>>>> = {
  "/pods": {
    /** A name of old for the same field. */
    "spec.host": readerOf("spec.nodeName"),
    "spec.hostNetwork": flagReaderOf("spec.hostNetwork"),
    "status.podIP": firstPodIp,
    /** Accepted as a label, but no value is ever published for it. */
    "status.podIPs": () => "",
  },
  "/nodes": { "spec.unschedulable": flagReaderOf("spec.unschedulable") },
  "/events": {
    source: (event) => textAt(event, ["source", "component"]) || textAt(event, ["reportingComponent"]),
  },
};

/** Labels that every resource answers from its key, so that they need no reader. */
const keyLabels: ReadonlySet<string> = new Set(["metadata.name", "metadata.namespace"]);

/**
 * Readers of the labels that a field selector of this resource may use beyond name and namespace.
 * @param groupResource `<group>/<resource>`, with an empty group for core
 */
export function selectableFields(groupResource: string, labels: readonly string[]): ReadonlyMap<string, FieldReader> {
  const special = specialReaders[groupResource] ?? {};
  const readers = new Map<string, FieldReader>();
  for (const label of labels) {
    if (!keyLabels.has(label)) readers.set(label, readerOf(label));
  }
  for (const [label, reader] of Object.entries(special)) readers.set(label, reader);
  return readers;
}

const storedLabels: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  "events.k8s.io/events": new Map([
    ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
      (field) => [`regarding.${field}`, `involvedObject.${field}`] as const,
    ),
    ["reportingController", "reportingComponent"],
  ]),
};
const sameLabels: ReadonlyMap<string, string> = new Map();

/** Label → label of the same field in the stored version, where the two versions name it differently. */
export function storedFieldLabels(groupResource: string): ReadonlyMap<string, string> {
  return storedLabels[groupResource] ?? sameLabels;
}

/** Reads the scalar at a dotted path as text. */
export function readerOf(path: string): FieldReader {
  const segments = path.split(".");
  return (object) => textAt(object, segments);
}

/** Like readerOf for a boolean that is "false" when absent. */
function flagReaderOf(path: string): FieldReader {
  const segments = path.split(".");
  return (object) => textAt(object, segments) || "false";
}

function firstPodIp(pod: JsonObject): string {
  const ips = valueAt(pod, ["status", "podIPs"]);
  const first = Array.isArray(ips) ? ips[0] : undefined;
  return first === undefined ? textAt(pod, ["status", "podIP"]) : textAt(first, ["ip"]);
}

function textAt(value: JsonValue, path: readonly string[]): string {
  const found = valueAt(value, path);
  return typeof found === "object" || found === undefined ? "" : String(found);
}

function valueAt(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const segment of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, segment)) return undefined;
    current = current[segment];
  }
  return current;
}
