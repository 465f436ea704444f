import type { DescriptionsByType } from "../../registry/kind.ts";

/** Texts for `kubectl explain`, by type. */
export const statefulSetDescriptions: DescriptionsByType = {
  "apps/v1.StatefulSet": { "": "Runs pods with lasting names, each with its own storage." },
  "apps/v1.StatefulSetSpec": {
    "": "The wanted pods.",
    replicas: "Wanted number of pods; 1 by default.",
    selector: "Selects the pods of the set. Must match the labels of the template.",
    template: "The pods to make.",
    volumeClaimTemplates: "A volume claim for each pod from each of these.",
    serviceName: "Service that gives the pods their names in DNS.",
    podManagementPolicy: "OrderedReady: one after another. Parallel: all at once.",
    updateStrategy: "Strategy for replacing pods when the template changes.",
    revisionHistoryLimit: "Number of old revisions to keep for a rollback.",
    minReadySeconds: "Seconds that a new pod has to be ready before it counts as available.",
    persistentVolumeClaimRetentionPolicy: "Treatment of volume claims when pods or the set are deleted.",
    ordinals: "Numbering of the pods.",
  },
  "apps/v1.StatefulSetStatus": {
    "": "The observed pods.",
    replicas: "Number of pods.",
    readyReplicas: "Pods that are ready.",
    currentReplicas: "Pods of the current revision.",
    updatedReplicas: "Pods of the newest revision.",
    currentRevision: "The revision that pods had before the update.",
    updateRevision: "The newest revision.",
    collisionCount: "Collisions of names of revisions.",
    availableReplicas: "Pods that have been ready long enough.",
  },
};
