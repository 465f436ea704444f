import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateConfigMap, validateConfigMapUpdate } from "./validation/config-map.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const configMapStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateConfigMap,
  validateUpdate: validateConfigMapUpdate,
};

export const configMap = builtInKind("configmaps", {
  endpoint: stored(configMapStrategy),
});
