import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEndpoints } from "../validation/endpoints.ts";

export const endpointsStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validate: validateEndpoints,
};
