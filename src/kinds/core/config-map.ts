import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateConfigMap, validateConfigMapUpdate } from "../validation/config-map.ts";

export const configMapStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateConfigMap,
  validateUpdate: validateConfigMapUpdate,
};
