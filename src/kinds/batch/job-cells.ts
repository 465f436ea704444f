import { humanDuration } from "../../api/codec/table/human-duration.ts";
import { hasCondition } from "../../api/codec/table/cell-text.ts";
import { numberOf, objectOf, textOf } from "../../api/json-reading.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { templateCells } from "../apps/template-cells.ts";

export function jobCells(job: JsonObject, nowMs: number): Cells {
  const spec = objectOf(job["spec"]);
  const status = objectOf(job["status"]);
  return {
    Status: jobStatusText(job, status),
    Completions: completionsText(spec, numberOf(status["succeeded"])),
    Duration: durationText(status, nowMs),
    ...templateCells(spec),
    Selector: selectorText(spec["selector"]),
  };
}

function jobStatusText(job: JsonObject, status: JsonObject): string {
  for (const type of ["Complete", "Failed"]) if (hasCondition(status, type)) return type;
  if (objectOf(job["metadata"])["deletionTimestamp"] !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find((type) => hasCondition(status, type)) ?? "Running";
}

function completionsText(spec: JsonObject, succeeded: number): string {
  if (spec["completions"] !== undefined) return `${succeeded}/${numberOf(spec["completions"])}`;
  const parallelism = numberOf(spec["parallelism"]);
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText(status: JsonObject, nowMs: number): string {
  const start = Date.parse(textOf(status["startTime"]));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(textOf(status["completionTime"]));
  return humanDuration((Number.isNaN(end) ? nowMs : end) - start);
}
