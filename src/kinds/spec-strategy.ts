import { defaultStrategy, statusStrategy } from "../registry/default-strategy.ts";
import type { Strategy } from "../registry/strategy.ts";

/** What kinds with a spec and a status do: the one counts as a generation, the other is written by its own path. */
export const specStrategy: Strategy = {
  ...defaultStrategy,
  generationFields: ["spec"],
  resetFields: ["status"],
  coversSchema: true,
};

/** The `status` path of such a kind, with rules of its own. */
export function statusRules(parent: Strategy, validateUpdate: Strategy["validateUpdate"]): Strategy {
  return { ...statusStrategy(parent), validateUpdate };
}
