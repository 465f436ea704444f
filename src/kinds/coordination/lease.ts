import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLease } from "./validation/lease.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const leaseStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateLease,
};

export const lease = builtInKind("leases.coordination.k8s.io", {
  endpoint: stored(leaseStrategy),
});
