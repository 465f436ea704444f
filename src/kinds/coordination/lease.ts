import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLease } from "./validation/lease.ts";

const leaseStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  allowsBareFinalizers: true,
  coversSchema: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateLease,
};

export const lease = builtInKind("leases.coordination.k8s.io", {
  endpoint: stored(leaseStrategy),
  table: { cells: leaseCells },
  descriptions: {
    "coordination/v1.Lease": { "": "A claim that is held for a time, such as the leadership among replicas." },
    "coordination/v1.LeaseSpec": {
      "": "Holder and duration of a lease.",
      holderIdentity: "Identity of the holder.",
      leaseDurationSeconds: "Seconds after renewTime for which others must leave it alone.",
      acquireTime: "When the holder took it.",
      renewTime: "When the holder renewed it last.",
      leaseTransitions: "Number of changes of the holder.",
      strategy: "Strategy for choosing the leader in a coordinated election.",
      preferredHolder: "Candidate to which the holder should hand the lease over.",
    },
  },
});

function leaseCells({ spec }: Lease): Cells {
  return { Holder: spec?.holderIdentity ?? "" };
}
