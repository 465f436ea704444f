import { CronScheduleError, isTimeZone, parseCronSchedule } from "../cron-schedule.ts";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateJobSpec } from "./job.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, textOf, validateNotNegative, validateRequiredChoice } from "../../../api/validation/fields.ts";

const concurrencyPolicies = ["Allow", "Forbid", "Replace"];
/** The controller appends a time of eleven characters to make the name of a job. */
const nameBytesMax = 52;

/** @param old what is replaced: time zones and names that came before their rules stay */
export function validateCronJob(cronJob: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(cronJob["spec"]);
  const stored = old === undefined ? undefined : fieldsOf(old["spec"]);
  const name = cronJob.metadata.name ?? "";
  return [
    ...validateSchedule(spec, stored, "spec.schedule"),
    ...validateNotNegative(spec["startingDeadlineSeconds"], "spec.startingDeadlineSeconds"),
    ...(stored !== undefined && stored["timeZone"] === spec["timeZone"]
      ? []
      : validateTimeZone(spec["timeZone"], "spec.timeZone")),
    ...validateRequiredChoice(spec["concurrencyPolicy"], concurrencyPolicies, "spec.concurrencyPolicy"),
    ...validateJobTemplate(fieldsOf(fieldsOf(spec["jobTemplate"])["spec"]), "spec.jobTemplate.spec"),
    ...validateNotNegative(spec["successfulJobsHistoryLimit"], "spec.successfulJobsHistoryLimit"),
    ...validateNotNegative(spec["failedJobsHistoryLimit"], "spec.failedJobsHistoryLimit"),
    ...(old === undefined && Buffer.byteLength(name) > nameBytesMax
      ? [fieldError.invalid("metadata.name", name, `must be no more than ${nameBytesMax} characters`)]
      : []),
  ];
}

function validateSchedule(spec: JsonObject, stored: JsonObject | undefined, field: string): FieldError[] {
  const schedule = textOf(spec["schedule"]);
  if (schedule === "") return [fieldError.required(field)];
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [fieldError.invalid(field, schedule, problem)];
  if (!schedule.includes("TZ")) return errors;
  if (!textOf(stored?.["schedule"]).includes("TZ")) {
    const text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
    return [...errors, fieldError.invalid(field, schedule, text)];
  }
  if (!isPresent(spec["timeZone"])) return errors;
  const text = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
  return [...errors, fieldError.invalid(field, schedule, text)];
}

function scheduleProblem(schedule: string): string | undefined {
  try {
    parseCronSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof CronScheduleError) return error.message;
    throw error;
  }
}

function validateTimeZone(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const zone = textOf(value);
  if (zone === "") return [fieldError.invalid(field, value, "timeZone must be nil or non-empty string")];
  if (zone.toLowerCase() === "local") {
    const text = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    return [fieldError.invalid(field, value, text)];
  }
  return isTimeZone(zone) ? [] : [fieldError.invalid(field, value, `unknown time zone ${zone}`)];
}

/** The selector of each job is made when the job is. */
function validateJobTemplate(spec: JsonObject, path: string): FieldError[] {
  const errors = validateJobSpec(spec, path);
  if (isPresent(spec["selector"])) {
    errors.push(fieldError.invalid(`${path}.selector`, spec["selector"], "`selector` will be auto-generated"));
  }
  if (spec["manualSelector"] === true) {
    errors.push(fieldError.notSupported(`${path}.manualSelector`, true, ["nil", "false"]));
  }
  return errors;
}
