import type { DescriptionsByType } from "../../registry/kind.ts";

/** Texts for `kubectl explain`, by type. */
export const eventDescriptions: DescriptionsByType = {
  "core/v1.Event": {
    "": "A report of something that happened to an object. Kept for a limited time only.",
    involvedObject: "The object that the event is about.",
    reason: "Why it happened, in one word.",
    message: "The event, for people.",
    source: "The component that reported the event.",
    firstTimestamp: "When it was seen first.",
    lastTimestamp: "When it was seen last.",
    count: "Number of times that it occurred.",
    type: "Normal or Warning.",
    eventTime: "When it happened.",
    series: "Data about repetitions.",
    action: "The action that was taken or failed.",
    related: "Another object that has to do with it.",
    reportingComponent: "Name of the controller that reported it.",
    reportingInstance: "Id of that controller's instance.",
  },
  "core/v1.EventSource": { "": "The component that reported an event.", component: "Component.", host: "Node." },
  "core/v1.EventSeries": {
    "": "Repetitions of an event.",
    count: "Number of repetitions so far.",
    lastObservedTime: "When it was seen last.",
  },
};
