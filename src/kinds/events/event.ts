import { builtInKind } from "../../registry/kind.ts";
import { event as coreEvent } from "../core/event.ts";

/** Another form of the same objects. */
export const event = builtInKind("events.events.k8s.io", {
  endpoint: coreEvent.endpoint,
  table: coreEvent.table,
});
