import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEndpoints } from "./validation/endpoints.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const endpointsStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validate: validateEndpoints,
};

export const endpoints = builtInKind("endpoints", {
  endpoint: stored(endpointsStrategy),
});
