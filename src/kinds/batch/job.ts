import { jobDescriptions } from "./job-descriptions.ts";
import { emptyJsonObject, equalJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Job } from "../../api/types/batch-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { jobNameLabels, jobUidLabels, validateJob, validateJobUpdate } from "./validation/job.ts";
import { validateJobStatusUpdate } from "./validation/job-status.ts";
import { validateMetaChange } from "../../api/validation/object-meta.ts";
import { objectOf } from "../../api/json-reading.ts";
import { jobWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { jobCells } from "./job-cells.ts";
import { countReaderOf } from "../../api/scheme/selectable-fields.ts";
import { defaultJob } from "./defaults/job.ts";

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
function selectOwnPods(job: KubeObject): void {
  const spec = childOf(job as unknown as JsonObject, "spec");
  if (spec["manualSelector"] === true) return;
  const { name = "", uid = "" } = job.metadata;
  const labels = childOf(childOf(childOf(spec, "template"), "metadata"), "labels");
  // A job that took over the labels of its template takes over what is added to them.
  const mirrors = Object.keys(labels).length > 0 && equalJson({ ...job.metadata.labels }, labels);
  for (const key of jobNameLabels) addMissing(labels, key, name);
  for (const key of jobUidLabels) addMissing(labels, key, uid);
  if (mirrors) job.metadata.labels = { ...(labels as Record<string, string>) };
  const selected = childOf(childOf(spec, "selector"), "matchLabels");
  addMissing(selected, jobUidLabels[1] as string, uid);
}

/** The object in this field, which is made when there is none. */
function childOf(owner: JsonObject, name: string): JsonObject {
  const child = Object.assign(emptyJsonObject(), objectOf(owner[name]));
  owner[name] = child;
  return child;
}

/** Keeps the labels that are there. Validation reports wrong ones. */
function addMissing(labels: JsonObject, key: string, value: string): void {
  if (!Object.hasOwn(labels, key)) labels[key] = value;
}
