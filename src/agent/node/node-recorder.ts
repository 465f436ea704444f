import type { Occurrence } from "../../controllers/events/event-correlator.ts";

/** Tells people about a node. */
export type RecordNodeEvent = (type: Occurrence["type"], reason: string, message: string) => void;

/** Returns a function that records Events about a node. */
export function nodeRecorder(recorder: { record(occurrence: Occurrence): void }, name: string): RecordNodeEvent {
  // The name stands for the uid, as upstream has it: the Node may not exist yet.
  const about = { kind: "Node", name, uid: name };
  return (type, reason, message) => recorder.record({ about, type, reason, message, host: name });
}
