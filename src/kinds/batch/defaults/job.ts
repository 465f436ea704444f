import type { JsonObject } from "../../../api/json.ts";
import { childOf, fillIn, fillInText, labelAsTemplate, templateLabels } from "../../../api/schema/spec-fields.ts";

const int32Max = 2_147_483_647;

/** Sets the defaults of jobs. Templates of CronJobs do not have them. */
export function defaultJob(job: JsonObject): void {
  const spec = childOf(job, "spec");
  const isSet = (name: string) => spec[name] !== undefined && spec[name] !== null;
  if (!isSet("completions") && !isSet("parallelism")) spec["completions"] = 1;
  fillIn(spec, {
    parallelism: 1,
    backoffLimit: isSet("backoffLimitPerIndex") ? int32Max : 6,
    completionMode: "NonIndexed",
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: isSet("podFailurePolicy") ? "Failed" : "TerminatingOrFailed",
  });
  labelAsTemplate(job, templateLabels(spec));
}

export function defaultCronJob(cronJob: JsonObject): void {
  const spec = childOf(cronJob, "spec");
  fillInText(spec, { concurrencyPolicy: "Allow" });
  fillIn(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
}
