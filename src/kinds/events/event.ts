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
  descriptions: {
    "events/v1.Event": {
      "": "A report of something that happened to an object. Kept for a limited time only.",
      eventTime: "When it happened.",
      series: "Data about repetitions.",
      reportingController: "Name of the controller that reported it.",
      reportingInstance: "Id of that controller's instance.",
      action: "The action that was taken or failed.",
      reason: "Why it happened, in one word.",
      regarding: "The object that the event is about.",
      related: "Another object that has to do with it.",
      note: "The event, for people.",
      type: "Normal or Warning.",
      deprecatedSource: "The component that reported the event, in core/v1.",
      deprecatedFirstTimestamp: "When it was seen first, in events of core/v1.",
      deprecatedLastTimestamp: "When it was seen last, in events of core/v1.",
      deprecatedCount: "Number of times that it occurred, in core/v1.",
    },
    "events/v1.EventSeries": {
      "": "Repetitions of an event.",
      count: "Number of repetitions so far.",
      lastObservedTime: "When it was seen last.",
    },
  },
});
