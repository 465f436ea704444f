import { flagText } from "../../api/codec/table/cell-text.ts";
import type { RowTime } from "../../api/codec/table/row-time.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { CronJob } from "../../api/types/batch-v1.ts";
import { statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { templateCells } from "../apps/workload-cells.ts";
import { cronJobWarnings } from "../core/workload-warnings.ts";
import { specStrategy } from "../spec-strategy.ts";
import { validateCronJob } from "./validation/cron-job.ts";

const cronJobStrategy: Strategy<CronJob> = {
  ...specStrategy,
  metaRules: "update",
  validate: (cronJob, old) => validateCronJob(cronJob, old),
  warnings: cronJobWarnings,
};

export const cronJob = builtInKind("cronjobs.batch", {
  endpoint: stored(cronJobStrategy),
  table: { cells: cronJobCells },
  defaults: {
    "batch/v1.CronJob": defaultCronJob,
  },
  subresources: {
    status: subresource({ ...statusStrategy(cronJobStrategy), metaRules: "none" }),
  },
  descriptions: {
    "batch/v1.CronJob": { "": "Starts a job again and again at given times." },
    "batch/v1.CronJobSpec": {
      "": "When and what to start.",
      schedule: "Times in cron's notation: minute, hour, day of the month, month, day of the week.",
      timeZone: "Time zone of the schedule; by default that of the controller.",
      startingDeadlineSeconds: "Seconds by which a job may start late.",
      concurrencyPolicy: "Treatment of a new job while an earlier one runs: Allow, Forbid or Replace.",
      suspend: "When true, no further jobs are started.",
      jobTemplate: "The job to start.",
      successfulJobsHistoryLimit: "Number of successful jobs to keep; 3 by default.",
      failedJobsHistoryLimit: "Number of failed jobs to keep; 1 by default.",
    },
    "batch/v1.CronJobStatus": {
      "": "The observed state.",
      active: "Jobs that are running.",
      lastScheduleTime: "When a job was started last.",
      lastSuccessfulTime: "When a job succeeded last.",
    },
  },
});

function cronJobCells({ spec, status = {} }: CronJob, time: RowTime): Cells {
  const { lastScheduleTime, active = [] } = status;
  const jobSpec = spec?.jobTemplate.spec;
  return {
    Schedule: spec?.schedule ?? "",
    Timezone: spec?.timeZone || "<none>",
    Suspend: flagText(spec?.suspend),
    Active: active.length,
    "Last Schedule": lastScheduleTime === undefined ? "<none>" : time.ageOf(lastScheduleTime),
    ...templateCells(jobSpec?.template),
    Selector: selectorText(jobSpec?.selector),
  };
}

function defaultCronJob({ spec }: CronJob): void {
  if (spec === undefined) return;
  spec.concurrencyPolicy ||= "Allow";
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
}
