import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { checkIndexes, commonIndex } from "./index-intervals.ts";
import { isPresent, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const terminalConditions = ["Failed", "Complete", "FailureTarget"];

/** What the job controller may report: counts that do not fall, and an end that stays the end. */
export function validateJobStatusUpdate(job: KubeObject, old: KubeObject): FieldError[] {
  const status = objectOf(job["status"]);
  return [
    ...validateJobStatus(status, objectOf(job["spec"])),
    ...validateProgress(status, objectOf(old["status"]), objectOf(job["spec"])),
  ];
}

function validateJobStatus(status: JsonObject, spec: JsonObject): FieldError[] {
  const counts = ["active", "succeeded", "failed", "ready", "terminating"];
  return [
    ...counts.flatMap((name) => validateNotNegative(status[name], `status.${name}`)),
    ...validateUncounted(objectOf(status["uncountedTerminatedPods"]), "status.uncountedTerminatedPods"),
    ...validateConditionPairs(status),
    ...validateTimes(status),
    ...validateFinished(status),
    ...validateIndexes(status, spec),
    ...validateReady(status),
    ...validateSuccessCriteria(status, spec),
  ];
}

function isTrue(status: JsonObject, type: string): boolean {
  return objectsOf(status["conditions"]).some(
    (condition) => condition["type"] === type && condition["status"] === "True",
  );
}

function isFinished(status: JsonObject): boolean {
  return isTrue(status, "Complete") || isTrue(status, "Failed");
}

function conditionError(text: string): FieldError {
  return fieldError.invalidUnshown("status.conditions", text);
}

function validateUncounted(pods: JsonObject, field: string): FieldError[] {
  const seen = new Set<string>();
  return ["succeeded", "failed"].flatMap((list) =>
    validateEach(textsOf(pods[list]), (uid, at) => {
      const item = `${field}.${list}[${at}]`;
      if (uid === "") return [fieldError.invalid(item, uid, "must not be empty")];
      if (seen.has(uid)) return [fieldError.duplicate(item, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

function validateConditionPairs(status: JsonObject): FieldError[] {
  if (!isTrue(status, "Complete")) return [];
  return [
    ...(isTrue(status, "Failed") ? [conditionError("cannot set Complete=True and Failed=true conditions")] : []),
    ...(isTrue(status, "FailureTarget")
      ? [conditionError("cannot set Complete=True and FailureTarget=true conditions")]
      : []),
  ];
}

function validateTimes({ startTime, completionTime, ...rest }: JsonObject): FieldError[] {
  const field = "status.completionTime";
  const complete = isTrue(rest, "Complete");
  if (!isPresent(completionTime)) {
    return complete ? [fieldError.required(field, "completionTime is required for Complete jobs")] : [];
  }
  const errors: FieldError[] = [];
  if (!complete) {
    const text = "cannot set completionTime when there is no Complete=True condition";
    errors.push(fieldError.invalid(field, completionTime, text));
  }
  if (isPresent(startTime) && Date.parse(textOf(completionTime)) < Date.parse(textOf(startTime))) {
    errors.push(fieldError.invalid(field, completionTime, "must be equal to or after `startTime`"));
  }
  return errors;
}

function validateFinished(status: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (isTrue(status, "Failed") && !isTrue(status, "FailureTarget")) {
    errors.push(conditionError("cannot set Failed=True condition without the FailureTarget=true condition"));
  }
  if (isTrue(status, "Complete") && !isTrue(status, "SuccessCriteriaMet")) {
    errors.push(conditionError("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"));
  }
  if (!isFinished(status)) return errors;
  for (const name of ["active", "terminating"]) {
    if (numberOf(status[name]) === 0) continue;
    errors.push(fieldError.invalid(`status.${name}`, status[name], `${name}>0 is invalid for finished job`));
  }
  if (!isPresent(status["startTime"])) {
    errors.push(fieldError.required("status.startTime", "startTime is required for finished job"));
  }
  const uncounted = objectOf(status["uncountedTerminatedPods"]);
  if (["succeeded", "failed"].some((list) => textsOf(uncounted[list]).length > 0)) {
    const text = "must be empty for finished job";
    errors.push(fieldError.invalid("status.uncountedTerminatedPods", uncounted, text));
  }
  return errors;
}

function validateIndexes(status: JsonObject, spec: JsonObject): FieldError[] {
  const [completed, failed] = [textOf(status["completedIndexes"]), status["failedIndexes"]];
  const completions = numberOf(spec["completions"]);
  const limitsPerIndex = isPresent(spec["backoffLimitPerIndex"]);
  const errors: FieldError[] = [];
  const check = (text: string, name: string) => {
    const checked = isPresent(spec["completions"]) ? checkIndexes(text, completions) : undefined;
    if (checked?.kind === "invalid") {
      errors.push(fieldError.invalid(`status.${name}`, text, `error parsing ${name}: ${checked.problem}`));
    }
  };
  check(completed, "completedIndexes");
  if (limitsPerIndex && isPresent(failed)) check(textOf(failed), "failedIndexes");
  if (completed !== "" && spec["completionMode"] !== "Indexed") {
    const text = "cannot set non-empty completedIndexes when non-indexed completion mode";
    errors.push(fieldError.invalid("status.completedIndexes", completed, text));
  }
  if (!isPresent(failed)) return errors;
  if (!limitsPerIndex) {
    const text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    errors.push(fieldError.invalid("status.failedIndexes", failed, text));
  }
  const common = isPresent(spec["completions"]) ? commonIndex(completed, textOf(failed), completions) : undefined;
  if (common !== undefined) {
    const text = `failedIndexes and completedIndexes overlap at index: ${common}`;
    errors.push(fieldError.invalid("status.failedIndexes", failed, text));
  }
  return errors;
}

function validateReady({ ready, active }: JsonObject): FieldError[] {
  if (!isPresent(ready) || numberOf(ready) <= numberOf(active)) return [];
  return [fieldError.invalid("status.ready", ready, "cannot set more ready pods than active")];
}

function validateSuccessCriteria(status: JsonObject, spec: JsonObject): FieldError[] {
  const met = isTrue(status, "SuccessCriteriaMet");
  const errors: FieldError[] = [];
  if (met && isTrue(status, "Failed")) {
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and Failed=true conditions"));
  }
  if (met && isTrue(status, "FailureTarget")) {
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"));
  }
  if (isPresent(spec["successPolicy"]) && !met && isTrue(status, "Complete")) {
    const text = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
    errors.push(conditionError(text));
  }
  return errors;
}

function validateProgress(status: JsonObject, stored: JsonObject, spec: JsonObject): FieldError[] {
  const errors = terminalConditions
    .filter((type) => isTrue(stored, type) && !isTrue(status, type))
    .map((type) => conditionError(`cannot disable the terminal ${type}=True condition`));
  for (const name of ["failed", "succeeded"]) {
    if (numberOf(status[name]) >= numberOf(stored[name])) continue;
    errors.push(fieldError.invalid(`status.${name}`, status[name] ?? 0, `cannot decrease the ${name} counter`));
  }
  errors.push(...validateTimesKept(status, stored, spec["suspend"]));
  const [met, wasMet] = [isTrue(status, "SuccessCriteriaMet"), isTrue(stored, "SuccessCriteriaMet")];
  if (wasMet && !met) errors.push(conditionError("cannot disable the SuccessCriteriaMet=True condition"));
  if (isTrue(stored, "Complete") && !wasMet && met) {
    const text = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
    errors.push(conditionError(text));
  }
  return errors;
}

function validateTimesKept(status: JsonObject, stored: JsonObject, suspend: JsonValue | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const [completion, before] = [status["completionTime"], stored["completionTime"]];
  if (isPresent(completion) && isPresent(before) && completion !== before) {
    errors.push(fieldError.invalid("status.completionTime", completion, "field is immutable"));
  }
  const moved = isPresent(stored["startTime"]) && stored["startTime"] !== status["startTime"];
  if (moved && suspend !== true) {
    errors.push(fieldError.required("status.startTime", "startTime cannot be removed for unsuspended job"));
  }
  return errors;
}
