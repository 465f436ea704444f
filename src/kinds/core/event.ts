import type { RowTime } from "../../api/codec/table/row-time.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { textAt } from "../../api/scheme/selectable-fields.ts";
import type { Event, ObjectReference } from "../../api/types/core-v1.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { eventDescriptions } from "./event-descriptions.ts";
import { validateEvent, validateEventUpdate } from "./validation/event.ts";

const eventStrategy: Strategy<Event> = {
  ...defaultStrategy,
  metaRules: "none",
  allowsBareFinalizers: true,
  coversSchema: true,
  allowCreateOnUpdate: true,
  hasNoDependents: true,
  validateName: pathSegmentProblems,
  validate: validateEvent,
  validateUpdate: validateEventUpdate,
};

export const event = builtInKind("events", {
  endpoint: stored(eventStrategy),
  table: { cells: eventCells },
  labels: {
    readers: { source: (event) => textAt(event, ["source", "component"]) || textAt(event, ["reportingComponent"]) },
  },
  descriptions: eventDescriptions,
});

function eventCells(event: Event, time: RowTime): Cells {
  const { involvedObject, type = "", reason = "", message = "", series } = event;
  const firstSeen = time.ageOf(event.firstTimestamp ?? event.eventTime);
  const last = series?.lastObservedTime ?? event.lastTimestamp;
  return {
    "Last Seen": last ? time.ageOf(last) : firstSeen,
    Type: type,
    Reason: reason,
    Object: objectText(involvedObject),
    Subobject: involvedObject.fieldPath ?? "",
    Source: sourceText(event),
    Message: message.trim(),
    "First Seen": firstSeen,
    Count: series?.count || event.count || 1,
  };
}

function objectText({ kind = "", name = "" }: ObjectReference): string {
  return name === "" ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function sourceText({ source = {}, reportingComponent, reportingInstance }: Event): string {
  const component = source.component || reportingComponent;
  const host = source.host || reportingInstance;
  return host === "" ? component : `${component}, ${host}`;
}
