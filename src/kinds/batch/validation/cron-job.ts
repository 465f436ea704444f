import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { CronJob, CronJobSpec, JobSpec } from "../../../api/types/batch-v1.ts";
import { validateNotNegative, validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { CronScheduleError, isTimeZone, parseCronSchedule } from "../cron-schedule.ts";
import { validateJobSpec } from "./job.ts";

const concurrencyPolicies = ["Allow", "Forbid", "Replace"];
/** The controller appends a time of eleven characters to make the name of a job. */
const nameBytesMax = 52;

/** @param old what is replaced: time zones and names that came before their rules stay */
export function validateCronJob({ metadata: { name = "" }, spec }: CronJob, old?: CronJob): FieldError[] {
  if (spec === undefined) return [];
  const stored = old?.spec;
  return [
    ...validateSchedule(spec, stored, "spec.schedule"),
    ...validateNotNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds"),
    ...(stored !== undefined && stored.timeZone === spec.timeZone
      ? []
      : validateTimeZone(spec.timeZone, "spec.timeZone")),
    ...validateRequiredChoice(spec.concurrencyPolicy, concurrencyPolicies, "spec.concurrencyPolicy"),
    ...validateJobTemplate(spec.jobTemplate.spec, "spec.jobTemplate.spec"),
    ...validateNotNegative(spec.successfulJobsHistoryLimit, "spec.successfulJobsHistoryLimit"),
    ...validateNotNegative(spec.failedJobsHistoryLimit, "spec.failedJobsHistoryLimit"),
    ...(old === undefined && Buffer.byteLength(name) > nameBytesMax
      ? [fieldError.invalid("metadata.name", name, `must be no more than ${nameBytesMax} characters`)]
      : []),
  ];
}

function validateSchedule(
  { schedule, timeZone }: CronJobSpec,
  stored: CronJobSpec | undefined,
  field: string,
): FieldError[] {
  if (schedule === "") return [fieldError.required(field)];
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [fieldError.invalid(field, schedule, problem)];
  if (!schedule.includes("TZ")) return errors;
  if (!stored?.schedule.includes("TZ")) {
    const text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
    return [...errors, fieldError.invalid(field, schedule, text)];
  }
  if (timeZone === undefined) return errors;
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

function validateTimeZone(zone: string | undefined, field: string): FieldError[] {
  if (zone === undefined) return [];
  if (zone === "") return [fieldError.invalid(field, zone, "timeZone must be nil or non-empty string")];
  if (zone.toLowerCase() === "local") {
    const text = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    return [fieldError.invalid(field, zone, text)];
  }
  return isTimeZone(zone) ? [] : [fieldError.invalid(field, zone, `unknown time zone ${zone}`)];
}

/** Validates the spec of the jobs to come; the server makes the selector of each. */
function validateJobTemplate(spec: JobSpec | undefined, path: string): FieldError[] {
  if (spec === undefined) return [];
  const errors = validateJobSpec(spec, path);
  if (spec.selector !== undefined) {
    errors.push(fieldError.invalid(`${path}.selector`, spec.selector, "`selector` will be auto-generated"));
  }
  if (spec.manualSelector === true) {
    errors.push(fieldError.notSupported(`${path}.manualSelector`, true, ["nil", "false"]));
  }
  return errors;
}
