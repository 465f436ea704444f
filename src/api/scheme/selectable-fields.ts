import { apiVersionOf, type GroupVersionKind } from "../gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { FieldReader, ResourceInfo } from "./resource.ts";

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
  "/replicationcontrollers": { "status.replicas": countReaderOf("status.replicas") },
  /** The label has kept a name that the field has lost. */
  "batch/jobs": { "status.successful": countReaderOf("status.succeeded") },
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

/** What a client is told of a label that the resource does not select by, where it is not the usual text. */
const refusals: Readonly<Record<string, (label: string, gvk: GroupVersionKind) => string>> = {
  "batch/jobs": (label) => `field label ${JSON.stringify(label)} not supported for Job`,
  "resource.k8s.io/resourceslices": (label, gvk) =>
    `field label not supported for ${apiVersionOf(gvk)}, Kind=${gvk.kind}: ${label}`,
};

/** Why an unknown label is refused: a resource with labels of its own takes no others. */
export function unknownLabelText(label: string, info: ResourceInfo): string {
  const own = refusals[`${info.group}/${info.resource}`];
  if (own !== undefined) return own(label, info);
  if (info.selectableFields.size > 0) return `field label not supported: ${label}`;
  return `${JSON.stringify(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
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

/** Like readerOf for a number that is 0 when absent. */
function countReaderOf(path: string): FieldReader {
  const segments = path.split(".");
  return (object) => textAt(object, segments) || "0";
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
