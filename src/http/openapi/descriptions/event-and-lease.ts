import type { TypeDescriptions } from "../descriptions.ts";

export const eventAndLeaseDescriptions: Readonly<Record<string, TypeDescriptions>> = {
  "core/v1.Event": {
    "": "A report of something that happened to an object. Kept for a limited time only.",
    involvedObject: "The object that the event is about.",
    reason: "Why it happened, in one word.",
    message: "What happened, for people.",
    source: "Who reported it.",
    firstTimestamp: "When it was seen first.",
    lastTimestamp: "When it was seen last.",
    count: "How often it was seen.",
    type: "Normal or Warning.",
    eventTime: "When it happened.",
    series: "Data about repetitions.",
    action: "What was done or failed.",
    related: "Another object that has to do with it.",
    reportingComponent: "Name of the controller that reported it.",
    reportingInstance: "Id of that controller's instance.",
  },
  "core/v1.EventSource": { "": "Who reported an event.", component: "Component.", host: "Node." },
  "core/v1.EventSeries": {
    "": "Repetitions of an event.",
    count: "Number of repetitions so far.",
    lastObservedTime: "When it was seen last.",
  },
  "coordination/v1.Lease": { "": "A claim that is held for a time, such as the leadership among replicas." },
  "coordination/v1.LeaseSpec": {
    "": "Who holds a lease and until when.",
    holderIdentity: "Who holds the lease.",
    leaseDurationSeconds: "Seconds after renewTime for which others must leave it alone.",
    acquireTime: "When the holder took it.",
    renewTime: "When the holder renewed it last.",
    leaseTransitions: "How often the holder changed.",
    strategy: "How a leader is chosen in a coordinated election.",
    preferredHolder: "Who the holder should hand it over to.",
  },
};
