import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEvent, validateEventUpdate } from "./validation/event.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { eventCells } from "./event-cells.ts";

const eventStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validate: validateEvent,
  validateUpdate: validateEventUpdate,
};

export const event = builtInKind("events", {
  endpoint: stored(eventStrategy),
  table: { cells: eventCells },
});
