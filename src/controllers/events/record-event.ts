import type { KubeObject } from "../../api/object-meta.ts";
import type { EventRecorder } from "./event-recorder.ts";

/** Tells people about an object through an Event. */
export type RecordEvent = (object: KubeObject, event: ObjectEvent) => void;

export interface ObjectEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Returns a function that records Events about whole objects. */
export function recordingWith(recorder: EventRecorder): RecordEvent {
  return ({ apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } }, event) => {
    const place = namespace === undefined ? {} : { namespace };
    const state = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
    recorder.record({ about: { kind, apiVersion, ...place, name: name ?? "", ...state }, ...event });
  };
}
