import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validateConfigMap, validateConfigMapUpdate } from "../../validation/config-map.ts";

export const configMapStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateConfigMap,
  validateUpdate: validateConfigMapUpdate,
};
