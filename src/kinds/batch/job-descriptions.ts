import type { DescriptionsByType } from "../../registry/kind.ts";

/** Texts for `kubectl explain`, by type. */
export const jobDescriptions: DescriptionsByType = {
  "batch/v1.Job": { "": "Runs pods until enough of them have succeeded." },
  "batch/v1.JobSpec": {
    "": "The pods of a job, and the conditions of its success and failure.",
    parallelism: "Number of pods that may run at a time.",
    completions: "Number of pods that must succeed.",
    activeDeadlineSeconds: "Seconds after which the job is ended.",
    podFailurePolicy: "Treatment of failures, by exit code or condition of the pod.",
    successPolicy: "When the job has succeeded before all its indexes have.",
    backoffLimit: "Number of failures before the job fails; 6 by default.",
    backoffLimitPerIndex: "Number of failures before an index fails.",
    maxFailedIndexes: "Number of indexes that may fail.",
    selector: "Selects the pods of the job. The server usually sets it.",
    manualSelector: "When true, selector is the client's own.",
    template: "The pods to make.",
    ttlSecondsAfterFinished: "Seconds after which a finished job is removed.",
    completionMode: "NonIndexed, or Indexed: each pod has a number.",
    suspend: "When true, no pods run.",
    podReplacementPolicy: "When a pod is replaced: TerminatingOrFailed or Failed.",
    managedBy: "Controller that runs the job, when it is not the built-in one.",
  },
  "batch/v1.JobStatus": {
    "": "The observed state.",
    startTime: "When the job began.",
    completionTime: "When the job was done.",
    active: "Pods that run or wait.",
    succeeded: "Pods that have succeeded.",
    failed: "Pods that have failed.",
    terminating: "Pods that are going.",
    completedIndexes: "Indexes that have succeeded, as 1,3-5.",
    failedIndexes: "Indexes that have failed, as 1,3-5.",
    uncountedTerminatedPods: "Pods that have ended and are not in the counts yet.",
    ready: "Pods that are ready.",
  },
};
