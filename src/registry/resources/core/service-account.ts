import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validateServiceAccount } from "../../validation/service-account.ts";

export const serviceAccountStrategy: Strategy = {
  ...defaultStrategy,
  returnsDeletedObject: true,
  validate: validateServiceAccount,
};
