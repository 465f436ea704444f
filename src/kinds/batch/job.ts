import { hasCondition } from "../../api/codec/table/cell-text.ts";
import { humanDuration } from "../../api/codec/table/human-duration.ts";
import type { RowTime } from "../../api/codec/table/row-time.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { emptyMap, equalJson } from "../../api/json.ts";
import { countReaderOf } from "../../api/scheme/selectable-fields.ts";
import type { Job, JobSpec, JobStatus } from "../../api/types/batch-v1.ts";
import { validateMetaChange } from "../../api/validation/object-meta.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { templateCells } from "../apps/workload-cells.ts";
import { labelAsTemplate } from "../core/template-labels.ts";
import { jobWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { jobDescriptions } from "./job-descriptions.ts";
import { jobNameLabels, jobUidLabels, validateJob, validateJobUpdate } from "./validation/job.ts";
import { validateJobStatusUpdate } from "./validation/job-status.ts";

const orphanWarning =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

const jobStrategy: Strategy<Job> = {
  ...specStrategy,
  orphansByDefault: true,
  defaultsAgain: true,
  prepareForCreate: selectOwnPods,
  validate: (job, old) => validateJob(job, old),
  // The rules of a whole job come before those of a change, of its metadata too.
  metaRules: "whole",
  validateUpdate: (job, old) => [...validateMetaChange(job.metadata, old.metadata), ...validateJobUpdate(job, old)],
  warnings: jobWarnings,
  deleteWarnings: ({ propagationPolicy, orphanDependents }) =>
    propagationPolicy === undefined && orphanDependents === undefined ? [orphanWarning] : [],
};

const jobStatusStrategy: Strategy<Job> = {
  ...statusRules(jobStrategy, validateJobStatusUpdate),
  metaRules: "update",
};

export const job = builtInKind("jobs.batch", {
  endpoint: stored(jobStrategy),
  table: { cells: jobCells },
  labels: {
    // The label has kept a name that the field has lost.
    readers: { "status.successful": countReaderOf("status.succeeded") },
    refusal: (label) => `field label ${JSON.stringify(label)} not supported for Job`,
  },
  defaults: {
    "batch/v1.Job": defaultJob,
  },
  subresources: {
    status: subresource(jobStatusStrategy),
  },
  descriptions: jobDescriptions,
});

/** A job labels its pods with its name and uid, and selects them by the uid, unless it brings its own selector. */
function selectOwnPods(job: Job): void {
  const { metadata, spec } = job;
  if (spec === undefined || spec.manualSelector === true) return;
  const { name = "", uid = "" } = metadata;
  const labels = copiedLabels(spec.template.metadata?.labels);
  // A job that copied the labels of its template also copies the labels that are added to them.
  const mirrors = Object.keys(labels).length > 0 && equalJson({ ...metadata.labels }, labels);
  for (const key of jobNameLabels) addMissing(labels, key, name);
  for (const key of jobUidLabels) addMissing(labels, key, uid);
  if (mirrors) metadata.labels = { ...labels };
  spec.template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
  const selected = copiedLabels(spec.selector?.matchLabels);
  addMissing(selected, jobUidLabels[1] as string, uid);
  spec.selector = { ...spec.selector, matchLabels: selected };
}

function copiedLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.assign(emptyMap<string>(), labels);
}

/** Keeps the labels that are there. Validation reports wrong ones. */
function addMissing(labels: Record<string, string>, key: string, value: string): void {
  if (!Object.hasOwn(labels, key)) labels[key] = value;
}

function jobCells(job: Job, time: RowTime): Cells {
  const { spec, status = {} } = job;
  return {
    Status: jobStatusText(job),
    Completions: completionsText(spec, status.succeeded ?? 0),
    Duration: durationText(status, time),
    ...templateCells(spec?.template),
    Selector: selectorText(spec?.selector),
  };
}

function jobStatusText({ metadata, status = {} }: Job): string {
  for (const type of ["Complete", "Failed"]) if (hasCondition(status, type)) return type;
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find((type) => hasCondition(status, type)) ?? "Running";
}

function completionsText(spec: JobSpec | undefined, succeeded: number): string {
  const { completions, parallelism = 0 } = spec ?? {};
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ startTime, completionTime }: JobStatus, time: RowTime): string {
  if (startTime === undefined) return "";
  const startMs = Date.parse(startTime);
  return completionTime === undefined ? time.since(startMs) : humanDuration(Date.parse(completionTime) - startMs);
}

const int32Max = 2_147_483_647;

/** Completes a job. The templates of CronJobs do not get these defaults. */
function defaultJob(job: Job): void {
  const { spec } = job;
  if (spec === undefined) return;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : int32Max;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
  labelAsTemplate(job, spec.template);
}
