import { eventDescriptions } from "./event-descriptions.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Event } from "../../api/types/core-v1.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEvent, validateEventUpdate } from "./validation/event.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { eventCells } from "./event-cells.ts";
import { textAt } from "../../api/scheme/selectable-fields.ts";

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
