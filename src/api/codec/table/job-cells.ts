import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { ageOf, humanDuration } from "./human-duration.ts";
import { flagText, hasCondition, numberIn, structIn, structsIn, textIn } from "./reading.ts";
import { selectorText, templateCells } from "./workload-cells.ts";

export function jobCells(job: JsonObject, nowMs: number): Cells {
  const spec = structIn(job, "spec");
  const status = structIn(job, "status");
  return {
    Status: statusText(job, status),
    Completions: completionsText(spec, numberIn(status, "succeeded")),
    Duration: durationText(status, nowMs),
    ...templateCells(spec),
    Selector: selectorText(spec["selector"]),
  };
}

export function cronJobCells(cronJob: JsonObject, nowMs: number): Cells {
  const spec = structIn(cronJob, "spec");
  const status = structIn(cronJob, "status");
  const last = textIn(status, "lastScheduleTime");
  const jobSpec = structIn(structIn(spec, "jobTemplate"), "spec");
  return {
    Schedule: textIn(spec, "schedule"),
    Timezone: textIn(spec, "timeZone") || "<none>",
    Suspend: flagText(spec["suspend"]),
    Active: structsIn(status, "active").length,
    "Last Schedule": last === "" ? "<none>" : ageOf(last, nowMs),
    ...templateCells(jobSpec),
    Selector: selectorText(jobSpec["selector"]),
  };
}

function statusText(job: JsonObject, status: JsonObject): string {
  for (const type of ["Complete", "Failed"]) if (hasCondition(status, type)) return type;
  if (structIn(job, "metadata")["deletionTimestamp"] !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find((type) => hasCondition(status, type)) ?? "Running";
}

function completionsText(spec: JsonObject, succeeded: number): string {
  if (spec["completions"] !== undefined) return `${succeeded}/${numberIn(spec, "completions")}`;
  const parallelism = numberIn(spec, "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText(status: JsonObject, nowMs: number): string {
  const start = Date.parse(textIn(status, "startTime"));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(textIn(status, "completionTime"));
  return humanDuration((Number.isNaN(end) ? nowMs : end) - start);
}
