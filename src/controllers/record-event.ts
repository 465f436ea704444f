import type { KubeObject } from "../api/object-meta.ts";

/** Tells people about an object through an Event. */
export type RecordEvent = (about: KubeObject, event: ObjectEvent) => void;

export interface ObjectEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}
