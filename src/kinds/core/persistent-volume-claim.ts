import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { settleDataSource } from "./claim-data-source.ts";
import { validateClaim, validateClaimStatus, validateClaimUpdate } from "./validation/persistent-volume-claim.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const persistentVolumeClaimStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  prepareForCreate(claim) {
    claim["status"] = { phase: "Pending" };
    settleDataSource(claim);
  },
  prepareForUpdate: settleDataSource,
  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
};

const persistentVolumeClaimStatusStrategy: Strategy = {
  ...statusStrategy(persistentVolumeClaimStrategy),
  validate: validateClaimStatus,
};

export const persistentVolumeClaim = builtInKind("persistentvolumeclaims", {
  endpoint: stored(persistentVolumeClaimStrategy),
  subresources: {
    status: subresource(persistentVolumeClaimStatusStrategy),
  },
});
