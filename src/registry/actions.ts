import type { Actions } from "./action.ts";

/** Every action that is part of the built-in API, by `actionKey`. This list is the only place where they are entered. */
export function builtInActions(): Actions {
  return new Map([]);
}
