import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { GroupVersion } from "../../../api/gvk.ts";
import { equalJson } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { Event } from "../../../api/types/core-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateMetaChange, validateObjectMeta } from "../../../api/validation/object-meta.ts";

const shortTextBytesMax = 128;
const noteBytesMax = 1024;
const coreVersion: GroupVersion = { group: "", version: "v1" };
/** Namespaces of events about cluster-scoped objects. */
const clusterNamespaces = ["", "default"];
const newClusterNamespaces = ["default", "kube-system"];
/** Fields that an update through events.k8s.io may not change, and their names in errors. Upstream checks one twice. */
const fixedFields = [
  ["involvedObject", "involvedObject"],
  ["reason", "reason"],
  ["message", "message"],
  ["source", "source"],
  ["firstTimestamp", "firstTimestamp"],
  ["lastTimestamp", "lastTimestamp"],
  ["count", "count"],
  ["reason", "reason"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["action", "action"],
  ["related", "related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance", "reportingInstance"],
] as const satisfies readonly (readonly [field: keyof Event, shown: string])[];
const metaRules = { namespaced: true, validateName: dnsSubdomainProblems, qualifiesFinalizers: true };

/** Validates an event in the form of the core group. More rules apply to events written through events.k8s.io. */
export function validateEvent(event: Event, old?: Event, version: GroupVersion = coreVersion): FieldError[] {
  const strict = old === undefined && !isCore(version);
  return [
    ...validateNamespace(event),
    ...(isSet(event.eventTime) ? validateReporter(event, isCore(version)) : []),
    ...(strict ? validateModernEvent(event) : []),
  ];
}

export function validateEventUpdate(event: Event, old: Event, version: GroupVersion = coreVersion): FieldError[] {
  if (isCore(version)) return [];
  return [
    ...validateMetaChange(event.metadata, old.metadata),
    ...(equalJson(event.series, old.series) ? [] : validateSeries(event)),
    ...fixedFields.flatMap(([field, shown]) => validateImmutable(event[field], old[field], shown)),
  ];
}

function isCore({ group }: GroupVersion): boolean {
  return group === "";
}

/** An event is in the namespace of its object. Events about cluster-scoped objects are in `default`. */
function validateNamespace({ involvedObject, eventTime, metadata }: Event): FieldError[] {
  const { namespace: about = "" } = involvedObject ?? {};
  const { namespace = "" } = metadata;
  const isNew = isSet(eventTime);
  const cluster = isNew ? newClusterNamespaces : clusterNamespaces;
  const matches = about === "" ? cluster.includes(namespace) : isNew || about === namespace;
  return matches ? [] : [fieldError.invalid("involvedObject.namespace", about, "does not match event.namespace")];
}

/** The two versions of events have different names for the controller. */
function validateReporter(event: Event, inCore: boolean): FieldError[] {
  const { reportingComponent: controller = "", message = "" } = event;
  const field = inCore ? "reportingComponent" : "reportingController";
  const errors = controller === "" ? [fieldError.required(field)] : [];
  for (const problem of labelKeyErrors(controller)) {
    errors.push(fieldError.invalid(field, controller, problem));
  }
  for (const name of ["reportingInstance", "action", "reason"] as const) {
    const text = event[name] ?? "";
    if (text === "") errors.push(fieldError.required(name));
    if (Buffer.byteLength(text) > shortTextBytesMax) errors.push(tooManyCharacters(name, shortTextBytesMax));
  }
  if (Buffer.byteLength(message) > noteBytesMax) errors.push(tooManyCharacters("message", noteBytesMax));
  return errors;
}

function tooManyCharacters(field: string, max: number): FieldError {
  return fieldError.invalid(field, "", `can have at most ${max} characters`);
}

/** Checks the rules that hold only for events created through events.k8s.io, those of metadata among them. */
function validateModernEvent(event: Event): FieldError[] {
  const errors = [...validateObjectMeta(event.metadata, metaRules), ...validateSeries(event)];
  const { eventTime, type = "", count = 0, source = {} } = event;
  if (!isSet(eventTime)) errors.push(fieldError.required("eventTime"));
  if (type !== "Normal" && type !== "Warning") {
    errors.push(fieldError.invalid("type", "", `has invalid value: ${type}`));
  }
  if (isSet(event.firstTimestamp)) errors.push(needsUnset("firstTimestamp"));
  if (isSet(event.lastTimestamp)) errors.push(needsUnset("lastTimestamp"));
  if (count !== 0) errors.push(needsUnset("count"));
  if (isSet(source.component) || isSet(source.host)) errors.push(needsUnset("source"));
  return errors;
}

function needsUnset(field: string): FieldError {
  return fieldError.invalid(field, "", "needs to be unset");
}

function validateSeries({ series }: Event): FieldError[] {
  if (series === undefined) return [];
  const { count = 0, lastObservedTime } = series;
  const errors: FieldError[] = [];
  if (count < 2) errors.push(fieldError.invalid("series.count", "", "should be at least 2"));
  if (!isSet(lastObservedTime)) errors.push(fieldError.required("series.lastObservedTime"));
  return errors;
}

function isSet(text: string | null | undefined): boolean {
  return text !== undefined && text !== null && text !== "";
}
