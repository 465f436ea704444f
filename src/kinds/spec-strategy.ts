import type { KubeObject } from "../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../registry/default-strategy.ts";
import type { Strategy } from "../registry/strategy.ts";

/** Kinds with a spec and a status: changes of the spec are counted, and the status is written by its own path. */
export const specStrategy: Strategy = {
  ...defaultStrategy,
  generationFields: ["spec"],
  resetFields: ["status"],
  coversSchema: true,
};

/** The `status` path of such a kind, with rules of its own. */
export function statusRules<T extends KubeObject>(
  parent: Strategy<T>,
  validateUpdate: Strategy<T>["validateUpdate"],
): Strategy<T> {
  return { ...statusStrategy(parent), validateUpdate };
}
