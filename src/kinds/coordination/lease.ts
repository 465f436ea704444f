import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLease } from "../validation/lease.ts";

export const leaseStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateLease,
};
