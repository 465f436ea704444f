import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateSecret, validateSecretUpdate } from "../validation/secret.ts";

export const secretStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
};
