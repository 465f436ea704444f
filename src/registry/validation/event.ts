import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { GroupVersion } from "../../api/gvk.ts";
import { equalJson, type JsonValue } from "../../api/json.ts";
import { labelKeyErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "./key-values.ts";

const shortTextBytesMax = 128;
const noteBytesMax = 1024;
/** What an update of an events.k8s.io event may change. */
const changeable = new Set(["metadata", "series", "apiVersion", "kind"]);
const coreVersion: GroupVersion = { group: "", version: "v1" };
/** Errors call this field by the name that it has in events.k8s.io. */
const fieldNames = new Map([["reportingComponent", "reportingController"]]);

/** Events have the form of the core group. Those written through events.k8s.io have to keep more rules. */
export function validateEvent(event: KubeObject, old?: KubeObject, version: GroupVersion = coreVersion): FieldError[] {
  const core = isCore(version);
  return [
    ...validateNamespaces(event),
    ...(core || old !== undefined ? [] : validateModernEvent(event)),
    ...(isSet(event["eventTime"]) ? validateReporter(event, core) : []),
  ];
}

export function validateEventUpdate(
  event: KubeObject,
  old: KubeObject,
  version: GroupVersion = coreVersion,
): FieldError[] {
  if (isCore(version)) return [];
  const keys = new Set([...Object.keys(event), ...Object.keys(old)]);
  return [...keys]
    .filter(
      (key) =>
        !changeable.has(key) && !equalJson(event[key] as JsonValue | undefined, old[key] as JsonValue | undefined),
    )
    .map((key) =>
      fieldError.invalid(fieldNames.get(key) ?? key, event[key] as JsonValue | undefined, "field is immutable"),
    );
}

function isCore({ group }: GroupVersion): boolean {
  return group === "";
}

/** The event lives with the object it is about; events of cluster-scoped objects live in `default`. */
function validateNamespaces(event: KubeObject): FieldError[] {
  const about = fieldsOf(event["involvedObject"])["namespace"] ?? "";
  const namespace = event.metadata.namespace ?? "";
  const matches = about === "" ? namespace === "default" || namespace === "" : about === namespace;
  return matches ? [] : [fieldError.invalid("involvedObject.namespace", about, "does not match event.namespace")];
}

function validateModernEvent(event: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!isSet(event["eventTime"])) errors.push(fieldError.required("eventTime"));
  const type = event["type"] as JsonValue | undefined;
  if (type !== "Normal" && type !== "Warning")
    errors.push(fieldError.invalid("type", type ?? "", "has invalid value: "));
  for (const field of ["firstTimestamp", "lastTimestamp"]) {
    if (isSet(event[field])) errors.push(fieldError.invalid(field, event[field] as JsonValue, "needs to be unset"));
  }
  if ((event["count"] ?? 0) !== 0) {
    errors.push(fieldError.invalid("count", event["count"] as JsonValue, "needs to be unset"));
  }
  if (Object.values(fieldsOf(event["source"])).some((part) => part !== "")) {
    errors.push(fieldError.invalid("source", event["source"] as JsonValue, "needs to be unset"));
  }
  return [...errors, ...validateSeries(event)];
}

function validateSeries(event: KubeObject): FieldError[] {
  if (!isSet(event["series"])) return [];
  const { count, lastObservedTime } = fieldsOf(event["series"]);
  const errors: FieldError[] = [];
  if (typeof count !== "number" || count < 2)
    errors.push(fieldError.invalid("series.count", count ?? 0, "should be at least 2"));
  if (!isSet(lastObservedTime)) errors.push(fieldError.required("series.lastObservedTime"));
  return errors;
}

function validateReporter(event: KubeObject, core: boolean): FieldError[] {
  const controllerField = core ? "reportingComponent" : "reportingController";
  const controller = String(event["reportingComponent"] ?? "");
  const errors: FieldError[] = [];
  if (controller === "") errors.push(fieldError.required(controllerField));
  for (const problem of controller === "" ? [] : labelKeyErrors(controller)) {
    errors.push(fieldError.invalid(controllerField, controller, problem));
  }
  for (const field of ["reportingInstance", "action", "reason"]) {
    const text = String(event[field] ?? "");
    if (text === "") errors.push(fieldError.required(field));
    if (Buffer.byteLength(text) > shortTextBytesMax) {
      errors.push(fieldError.invalid(field, "", `can have at most ${shortTextBytesMax} characters`));
    }
  }
  if (Buffer.byteLength(String(event["message"] ?? "")) > noteBytesMax) {
    errors.push(fieldError.invalid("message", "", `can have at most ${noteBytesMax} characters`));
  }
  return errors;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
