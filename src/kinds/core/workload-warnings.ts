import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import { numberOf } from "../../api/validation/fields.ts";
import { podWarnings } from "./pod-warnings.ts";

const manyCompletions = 100_000;
const manyPods = 10_000;

/** Its name becomes part of names of pods, and its template has to make sense; both are told when they are new. */
export function workloadWarnings(object: KubeObject, old?: KubeObject): string[] {
  return [...nameWarnings(object, old), ...templateWarnings(object, old)];
}

/** The same of kinds whose pods have names of their own. */
export function templateWarnings(object: KubeObject, old?: KubeObject): string[] {
  if (!isNew(object, old)) return [];
  return podWarnings(fieldsOf(fieldsOf(object["spec"])["template"]), "spec.template");
}

export function jobWarnings(job: KubeObject, old?: KubeObject): string[] {
  if (!isNew(job, old)) return [];
  return [...nameWarnings(job, old), ...jobSpecWarnings(fieldsOf(job["spec"]), "spec")];
}

export function cronJobWarnings(cronJob: KubeObject, old?: KubeObject): string[] {
  const spec = fieldsOf(cronJob["spec"]);
  const warnings = isNew(cronJob, old)
    ? [
        ...nameWarnings(cronJob, old),
        ...jobSpecWarnings(fieldsOf(fieldsOf(spec["jobTemplate"])["spec"]), "spec.jobTemplate.spec"),
      ]
    : [];
  if (old === undefined || !String(spec["schedule"] ?? "").includes("TZ")) return warnings;
  const page = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
  // Upstream has the field twice in its path.
  return [
    ...warnings,
    `cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${page} for more details`,
  ];
}

function jobSpecWarnings(spec: JsonObject, field: string): string[] {
  const { completionMode, completions, parallelism, template } = spec;
  const tooMany =
    completionMode === "Indexed" && numberOf(completions) > manyCompletions && numberOf(parallelism) > manyPods;
  const text =
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [...(tooMany ? [`${field}: ${text}`] : []), ...podWarnings(fieldsOf(template), `${field}.template`)];
}

function nameWarnings({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  if (old !== undefined) return [];
  return hostnameWarnings(metadata.name ?? "", "this is used in Pod names and hostnames");
}

/** A name that is no label makes no host name. @param use what the name is for */
export function hostnameWarnings(name: string, use: string): string[] {
  const problems = dnsLabelProblems(name);
  if (problems.length === 0) return [];
  const text = `${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`;
  return [`metadata.name: ${text}`];
}

/** A change that is no new generation says nothing new about the pods. */
function isNew(object: KubeObject, old: KubeObject | undefined): boolean {
  return old === undefined || object.metadata.generation !== old.metadata.generation;
}
