import type { KubeObject } from "../../api/object-meta.ts";
import type { CronJob, Job, JobSpec } from "../../api/types/batch-v1.ts";
import type { PodTemplateSpec } from "../../api/types/core-v1.ts";
import type { ObjectMeta } from "../../api/types/meta-v1.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import { podWarnings } from "./pod-warnings.ts";

const manyCompletions = 100_000;
const manyPods = 10_000;

/** An object that makes pods from a template. */
interface Workload {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly template?: PodTemplateSpec };
}

/** Warns about a new name that becomes part of pod names, and about probable mistakes in a new template. */
export function workloadWarnings(object: Workload, old?: Workload): string[] {
  return [...nameWarnings(object, old), ...templateWarnings(object, old)];
}

/** Warns of the same for kinds whose pods are named differently. */
export function templateWarnings(object: Workload, old?: Workload): string[] {
  return isNew(object, old) ? podWarnings(object.spec?.template ?? {}, "spec.template") : [];
}

export function jobWarnings(job: Job, old?: Job): string[] {
  return isNew(job, old) ? [...nameWarnings(job, old), ...jobSpecWarnings(job.spec, "spec")] : [];
}

export function cronJobWarnings(cronJob: CronJob, old?: CronJob): string[] {
  const { spec } = cronJob;
  const warnings = isNew(cronJob, old)
    ? [...nameWarnings(cronJob, old), ...jobSpecWarnings(spec?.jobTemplate.spec, "spec.jobTemplate.spec")]
    : [];
  if (old === undefined || !spec?.schedule.includes("TZ")) return warnings;
  const page = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
  // Upstream has the field twice in its path.
  return [
    ...warnings,
    `cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${page} for more details`,
  ];
}

function jobSpecWarnings(spec: JobSpec | undefined, field: string): string[] {
  if (spec === undefined) return [];
  const { completionMode, completions = 0, parallelism = 0, template } = spec;
  const tooMany = completionMode === "Indexed" && completions > manyCompletions && parallelism > manyPods;
  const text =
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [...(tooMany ? [`${field}: ${text}`] : []), ...podWarnings(template, `${field}.template`)];
}

function nameWarnings({ metadata }: { readonly metadata: ObjectMeta }, old: unknown): string[] {
  if (old !== undefined) return [];
  return hostnameWarnings(metadata.name ?? "", "this is used in Pod names and hostnames");
}

/** Warns about a name that cannot be a host name because it is not a label. @param use purpose of the name */
export function hostnameWarnings(name: string, use: string): string[] {
  const problems = dnsLabelProblems(name);
  if (problems.length === 0) return [];
  const text = `${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`;
  return [`metadata.name: ${text}`];
}

/** Reports whether the pods may differ from before. A change that keeps the generation keeps the pods as well. */
function isNew({ metadata }: Pick<KubeObject, "metadata">, old: Pick<KubeObject, "metadata"> | undefined): boolean {
  return metadata.generation !== old?.metadata.generation || old === undefined;
}
