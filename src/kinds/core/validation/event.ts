import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { GroupVersion } from "../../../api/gvk.ts";
import { equalJson, type JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { objectOf } from "../../../api/json-reading.ts";

const shortTextBytesMax = 128;
const noteBytesMax = 1024;
const coreVersion: GroupVersion = { group: "", version: "v1" };
/** Where events may be that are about objects without a namespace. */
const clusterNamespaces = ["", "default"];
const newClusterNamespaces = ["default", "kube-system"];
/** What an update through events.k8s.io may not change, and the name that errors have for it. */
const fixedFields: readonly (readonly [field: string, shown: string])[] = [
  ["involvedObject", "involvedObject"],
  ["reason", "reason"],
  ["message", "message"],
  ["source", "source"],
  ["firstTimestamp", "firstTimestamp"],
  ["lastTimestamp", "lastTimestamp"],
  ["count", "count"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["action", "action"],
  ["related", "related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance", "reportingInstance"],
];

/** Events have the form of the core group. Those written through events.k8s.io have to keep more rules. */
export function validateEvent(event: KubeObject, old?: KubeObject, version: GroupVersion = coreVersion): FieldError[] {
  const strict = old === undefined && !isCore(version);
  return [
    ...validateNamespace(event),
    ...(isSet(event["eventTime"]) ? validateReporter(event, isCore(version)) : []),
    ...(strict ? [...validateSeries(event), ...validateModernEvent(event)] : []),
  ];
}

export function validateEventUpdate(
  event: KubeObject,
  old: KubeObject,
  version: GroupVersion = coreVersion,
): FieldError[] {
  if (isCore(version)) return [];
  const [series, before] = [event, old].map((object) => object["series"] as JsonValue | undefined);
  return [
    ...(equalJson(series, before) ? [] : validateSeries(event)),
    ...fixedFields.flatMap(([field, shown]) =>
      validateImmutable(event[field] as JsonValue | undefined, old[field] as JsonValue | undefined, shown),
    ),
  ];
}

function isCore({ group }: GroupVersion): boolean {
  return group === "";
}

/** The event lives with the object it is about; events of cluster-scoped objects live in `default`. */
function validateNamespace(event: KubeObject): FieldError[] {
  const about = String(objectOf(event["involvedObject"])["namespace"] ?? "");
  const namespace = event.metadata.namespace ?? "";
  const isNew = isSet(event["eventTime"]);
  const cluster = isNew ? newClusterNamespaces : clusterNamespaces;
  const matches = about === "" ? cluster.includes(namespace) : isNew || about === namespace;
  return matches ? [] : [fieldError.invalid("involvedObject.namespace", about, "does not match event.namespace")];
}

/** The two versions of events have different names for the controller. */
function validateReporter(event: KubeObject, inCore: boolean): FieldError[] {
  const controller = String(event["reportingComponent"] ?? "");
  const field = inCore ? "reportingComponent" : "reportingController";
  const errors = controller === "" ? [fieldError.required(field)] : [];
  for (const problem of labelKeyErrors(controller)) {
    errors.push(fieldError.invalid(field, controller, problem));
  }
  for (const name of ["reportingInstance", "action", "reason"]) {
    const text = String(event[name] ?? "");
    if (text === "") errors.push(fieldError.required(name));
    if (Buffer.byteLength(text) > shortTextBytesMax) errors.push(tooManyCharacters(name, shortTextBytesMax));
  }
  if (Buffer.byteLength(String(event["message"] ?? "")) > noteBytesMax) {
    errors.push(tooManyCharacters("message", noteBytesMax));
  }
  return errors;
}

function tooManyCharacters(field: string, max: number): FieldError {
  return fieldError.invalid(field, "", `can have at most ${max} characters`);
}

function validateModernEvent(event: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const type = String(event["type"] ?? "");
  if (!isSet(event["eventTime"])) errors.push(fieldError.required("eventTime"));
  if (type !== "Normal" && type !== "Warning") {
    errors.push(fieldError.invalid("type", "", `has invalid value: ${type}`));
  }
  for (const field of ["firstTimestamp", "lastTimestamp"]) if (isSet(event[field])) errors.push(needsUnset(field));
  if ((event["count"] ?? 0) !== 0) errors.push(needsUnset("count"));
  if (Object.values(objectOf(event["source"])).some((part) => part !== "")) errors.push(needsUnset("source"));
  return errors;
}

function needsUnset(field: string): FieldError {
  return fieldError.invalid(field, "", "needs to be unset");
}

function validateSeries(event: KubeObject): FieldError[] {
  if (!isSet(event["series"])) return [];
  const { count, lastObservedTime } = objectOf(event["series"]);
  const errors: FieldError[] = [];
  if (typeof count !== "number" || count < 2) {
    errors.push(fieldError.invalid("series.count", "", "should be at least 2"));
  }
  if (!isSet(lastObservedTime)) errors.push(fieldError.required("series.lastObservedTime"));
  return errors;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
