import { builtInKind } from "../../registry/kind.ts";
import { event as coreEvent } from "../core/event.ts";
import { eventConversion } from "./conversion.ts";

/** Another form of the same objects. */
export const event = builtInKind("events.events.k8s.io", {
  endpoint: coreEvent.endpoint,
  table: coreEvent.table,
  labels: {
    storedLabels: new Map([
      ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
        (field) => [`regarding.${field}`, `involvedObject.${field}`] as const,
      ),
      ["reportingController", "reportingComponent"],
    ]),
  },
  conversions: { v1: () => eventConversion },
});
