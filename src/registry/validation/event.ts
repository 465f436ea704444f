import { type FieldError, fieldError } from "../../api/field-error.ts";
import { equalJson, type JsonValue } from "../../api/json.ts";
import { labelKeyErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "./key-values.ts";

const shortTextBytesMax = 128;
const noteBytesMax = 1024;
/** What an update of an events.k8s.io event may change. */
const changeable = new Set(["metadata", "series", "apiVersion", "kind"]);

/** Both forms of an event: that of the core group and that of events.k8s.io, told apart by their apiVersion. */
export function validateEvent(event: KubeObject): FieldError[] {
  const core = !event.apiVersion.startsWith("events.k8s.io/");
  return [
    ...validateNamespaces(event, core ? "involvedObject" : "regarding"),
    ...(core ? [] : validateModernEvent(event)),
    ...(isSet(event["eventTime"]) ? validateReporter(event, core) : []),
  ];
}

export function validateEventUpdate(event: KubeObject, old: KubeObject): FieldError[] {
  if (!event.apiVersion.startsWith("events.k8s.io/")) return [];
  const keys = new Set([...Object.keys(event), ...Object.keys(old)]);
  return [...keys]
    .filter(
      (key) =>
        !changeable.has(key) && !equalJson(event[key] as JsonValue | undefined, old[key] as JsonValue | undefined),
    )
    .map((key) => fieldError.invalid(key, event[key] as JsonValue | undefined, "field is immutable"));
}

/** The event lives with the object it is about; events of cluster-scoped objects live in `default`. */
function validateNamespaces(event: KubeObject, field: string): FieldError[] {
  const about = fieldsOf(event[field])["namespace"] ?? "";
  const namespace = event.metadata.namespace ?? "";
  const matches = about === "" ? namespace === "default" || namespace === "" : about === namespace;
  return matches ? [] : [fieldError.invalid(`${field}.namespace`, about, "does not match event.namespace")];
}

function validateModernEvent(event: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!isSet(event["eventTime"])) errors.push(fieldError.required("eventTime"));
  const type = event["type"] as JsonValue | undefined;
  if (type !== "Normal" && type !== "Warning")
    errors.push(fieldError.invalid("type", type ?? "", "has invalid value: "));
  for (const field of ["deprecatedFirstTimestamp", "deprecatedLastTimestamp"]) {
    if (isSet(event[field])) errors.push(fieldError.invalid(field, event[field] as JsonValue, "needs to be unset"));
  }
  if ((event["deprecatedCount"] ?? 0) !== 0) {
    errors.push(fieldError.invalid("deprecatedCount", event["deprecatedCount"] as JsonValue, "needs to be unset"));
  }
  if (Object.values(fieldsOf(event["deprecatedSource"])).some((part) => part !== "")) {
    errors.push(fieldError.invalid("deprecatedSource", event["deprecatedSource"] as JsonValue, "needs to be unset"));
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
  const controller = String(event[controllerField] ?? "");
  const errors: FieldError[] = [];
  if (controller === "") errors.push(fieldError.required("reportingController"));
  for (const problem of controller === "" ? [] : labelKeyErrors(controller)) {
    errors.push(fieldError.invalid("reportingController", controller, problem));
  }
  for (const field of ["reportingInstance", "action", "reason"]) {
    const text = String(event[field] ?? "");
    if (text === "") errors.push(fieldError.required(field));
    if (Buffer.byteLength(text) > shortTextBytesMax) {
      errors.push(fieldError.invalid(field, "", `can have at most ${shortTextBytesMax} characters`));
    }
  }
  const noteField = core ? "message" : "note";
  if (Buffer.byteLength(String(event[noteField] ?? "")) > noteBytesMax) {
    errors.push(fieldError.invalid(noteField, "", `can have at most ${noteBytesMax} characters`));
  }
  return errors;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
