import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Job, JobSpec, JobStatus, UncountedTerminatedPods } from "../../../api/types/batch-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { checkIndexes, commonIndex } from "./index-intervals.ts";

const terminalConditions = ["Failed", "Complete", "FailureTarget"];

const counters = ["active", "succeeded", "failed", "ready", "terminating"] as const;
const uncountedLists = ["succeeded", "failed"] as const;

/** Validates what the job controller reports: counts that do not fall, and an end that stays the end. */
export function validateJobStatusUpdate({ spec, status = {} }: Job, { status: stored = {} }: Job): FieldError[] {
  return [...validateJobStatus(status, spec), ...validateProgress(status, stored, spec)];
}

function validateJobStatus(status: JobStatus, spec: JobSpec | undefined): FieldError[] {
  return [
    ...counters.flatMap((name) => validateNotNegative(status[name], `status.${name}`)),
    ...validateUncounted(status.uncountedTerminatedPods ?? {}, "status.uncountedTerminatedPods"),
    ...validateConditionPairs(status),
    ...validateTimes(status),
    ...validateFinished(status),
    ...validateIndexes(status, spec),
    ...validateReady(status),
    ...validateSuccessCriteria(status, spec),
  ];
}

function isTrue({ conditions = [] }: JobStatus, wanted: string): boolean {
  return conditions.some(({ type, status }) => type === wanted && status === "True");
}

function isFinished(status: JobStatus): boolean {
  return isTrue(status, "Complete") || isTrue(status, "Failed");
}

function conditionError(text: string): FieldError {
  return fieldError.invalidUnshown("status.conditions", text);
}

function validateUncounted(pods: UncountedTerminatedPods, field: string): FieldError[] {
  const seen = new Set<string>();
  return uncountedLists.flatMap((list) =>
    validateEach(pods[list] ?? [], (uid, at) => {
      const item = `${field}.${list}[${at}]`;
      if (uid === "") return [fieldError.invalid(item, uid, "must not be empty")];
      if (seen.has(uid)) return [fieldError.duplicate(item, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

function validateConditionPairs(status: JobStatus): FieldError[] {
  if (!isTrue(status, "Complete")) return [];
  return [
    ...(isTrue(status, "Failed") ? [conditionError("cannot set Complete=True and Failed=true conditions")] : []),
    ...(isTrue(status, "FailureTarget")
      ? [conditionError("cannot set Complete=True and FailureTarget=true conditions")]
      : []),
  ];
}

function validateTimes(status: JobStatus): FieldError[] {
  const { startTime, completionTime } = status;
  const field = "status.completionTime";
  const complete = isTrue(status, "Complete");
  if (completionTime === undefined) {
    return complete ? [fieldError.required(field, "completionTime is required for Complete jobs")] : [];
  }
  const errors: FieldError[] = [];
  if (!complete) {
    const text = "cannot set completionTime when there is no Complete=True condition";
    errors.push(fieldError.invalid(field, completionTime, text));
  }
  if (startTime !== undefined && Date.parse(completionTime) < Date.parse(startTime)) {
    errors.push(fieldError.invalid(field, completionTime, "must be equal to or after `startTime`"));
  }
  return errors;
}

function validateFinished(status: JobStatus): FieldError[] {
  const errors: FieldError[] = [];
  if (isTrue(status, "Failed") && !isTrue(status, "FailureTarget")) {
    errors.push(conditionError("cannot set Failed=True condition without the FailureTarget=true condition"));
  }
  if (isTrue(status, "Complete") && !isTrue(status, "SuccessCriteriaMet")) {
    errors.push(conditionError("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"));
  }
  if (!isFinished(status)) return errors;
  for (const name of ["active", "terminating"] as const) {
    const count = status[name] ?? 0;
    if (count === 0) continue;
    errors.push(fieldError.invalid(`status.${name}`, count, `${name}>0 is invalid for finished job`));
  }
  if (status.startTime === undefined) {
    errors.push(fieldError.required("status.startTime", "startTime is required for finished job"));
  }
  const { uncountedTerminatedPods: uncounted = {} } = status;
  if (uncountedLists.some((list) => (uncounted[list] ?? []).length > 0)) {
    const text = "must be empty for finished job";
    errors.push(fieldError.invalid("status.uncountedTerminatedPods", uncounted, text));
  }
  return errors;
}

function validateIndexes(status: JobStatus, spec: JobSpec | undefined): FieldError[] {
  const { completedIndexes: completed = "", failedIndexes: failed } = status;
  const { completions, completionMode, backoffLimitPerIndex } = spec ?? {};
  const limitsPerIndex = backoffLimitPerIndex !== undefined;
  const errors: FieldError[] = [];
  const check = (text: string, name: "completedIndexes" | "failedIndexes") => {
    const checked = completions === undefined ? undefined : checkIndexes(text, completions);
    if (checked?.kind === "invalid") {
      errors.push(fieldError.invalid(`status.${name}`, text, `error parsing ${name}: ${checked.problem}`));
    }
  };
  check(completed, "completedIndexes");
  if (limitsPerIndex && failed !== undefined) check(failed, "failedIndexes");
  if (completed !== "" && completionMode !== "Indexed") {
    const text = "cannot set non-empty completedIndexes when non-indexed completion mode";
    errors.push(fieldError.invalid("status.completedIndexes", completed, text));
  }
  if (failed === undefined) return errors;
  if (!limitsPerIndex) {
    const text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    errors.push(fieldError.invalid("status.failedIndexes", failed, text));
  }
  const common = completions === undefined ? undefined : commonIndex(completed, failed, completions);
  if (common !== undefined) {
    const text = `failedIndexes and completedIndexes overlap at index: ${common}`;
    errors.push(fieldError.invalid("status.failedIndexes", failed, text));
  }
  return errors;
}

function validateReady({ ready, active = 0 }: JobStatus): FieldError[] {
  if (ready === undefined || ready <= active) return [];
  return [fieldError.invalid("status.ready", ready, "cannot set more ready pods than active")];
}

function validateSuccessCriteria(status: JobStatus, spec: JobSpec | undefined): FieldError[] {
  const met = isTrue(status, "SuccessCriteriaMet");
  const errors: FieldError[] = [];
  if (met && isTrue(status, "Failed")) {
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and Failed=true conditions"));
  }
  if (met && isTrue(status, "FailureTarget")) {
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"));
  }
  if (spec?.successPolicy !== undefined && !met && isTrue(status, "Complete")) {
    const text = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
    errors.push(conditionError(text));
  }
  return errors;
}

function validateProgress(status: JobStatus, stored: JobStatus, spec: JobSpec | undefined): FieldError[] {
  const errors = terminalConditions
    .filter((type) => isTrue(stored, type) && !isTrue(status, type))
    .map((type) => conditionError(`cannot disable the terminal ${type}=True condition`));
  for (const name of ["failed", "succeeded"] as const) {
    const { [name]: count = 0 } = status;
    if (count >= (stored[name] ?? 0)) continue;
    errors.push(fieldError.invalid(`status.${name}`, count, `cannot decrease the ${name} counter`));
  }
  errors.push(...validateTimesKept(status, stored, spec?.suspend === true));
  const [met, wasMet] = [isTrue(status, "SuccessCriteriaMet"), isTrue(stored, "SuccessCriteriaMet")];
  if (wasMet && !met) errors.push(conditionError("cannot disable the SuccessCriteriaMet=True condition"));
  if (isTrue(stored, "Complete") && !wasMet && met) {
    const text = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
    errors.push(conditionError(text));
  }
  return errors;
}

function validateTimesKept(status: JobStatus, stored: JobStatus, suspended: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const { completionTime: completion } = status;
  const { completionTime: before, startTime: started } = stored;
  if (completion !== undefined && before !== undefined && completion !== before) {
    errors.push(fieldError.invalid("status.completionTime", completion, "field is immutable"));
  }
  if (started !== undefined && started !== status.startTime && !suspended) {
    errors.push(fieldError.required("status.startTime", "startTime cannot be removed for unsuspended job"));
  }
  return errors;
}
