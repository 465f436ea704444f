import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLease } from "./validation/lease.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { objectOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

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
});

function leaseCells(lease: JsonObject): Cells {
  return { Holder: textOf(objectOf(lease["spec"])["holderIdentity"]) };
}
