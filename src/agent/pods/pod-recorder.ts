import type { Pod } from "../../api/types/core-v1.ts";
import type { Occurrence } from "../../controllers/events/event-correlator.ts";
import { containerFieldPath, type PodContainer } from "./pod-containers.ts";

export interface PodEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Tells people about a pod, or about one of its containers. */
export type RecordPodEvent = (pod: Pod, event: PodEvent, container?: PodContainer) => void;

/** Returns a function that records Events of one node. */
export function podRecorder(recorder: { record(occurrence: Occurrence): void }, nodeName: string): RecordPodEvent {
  return ({ metadata }, event, container) => {
    const { namespace = "", name = "", uid = "", resourceVersion = "" } = metadata;
    const place = container === undefined ? {} : { fieldPath: containerFieldPath(container) };
    const about = { kind: "Pod", apiVersion: "v1", namespace, name, uid, resourceVersion, ...place };
    recorder.record({ about, ...event, host: nodeName });
  };
}
