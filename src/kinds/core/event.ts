import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEvent, validateEventUpdate } from "../validation/event.ts";

export const eventStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validate: validateEvent,
  validateUpdate: validateEventUpdate,
};
