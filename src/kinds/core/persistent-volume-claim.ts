import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { PersistentVolumeClaim } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { claimWarnings } from "./claim-warnings.ts";
import { settleDataSource } from "./claim-data-source.ts";
import { validateClaim, validateClaimStatus, validateClaimUpdate } from "./validation/persistent-volume-claim.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { quantityText } from "../../api/codec/table/quantity-text.ts";
import { objectOf, textOf, textsOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { accessModesText, claimedCells } from "./volume-cells.ts";
import { defaultClaim } from "./defaults/persistent-volume.ts";
import { roundRequirements } from "./defaults/resource-list.ts";

const persistentVolumeClaimStrategy: Strategy<PersistentVolumeClaim> = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  prepareForCreate(claim) {
    claim.status = { phase: "Pending" };
    settleDataSource(claim);
  },
  prepareForUpdate: settleDataSource,
  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
  warnings: claimWarnings,
};

const persistentVolumeClaimStatusStrategy: Strategy<PersistentVolumeClaim> = {
  ...statusStrategy(persistentVolumeClaimStrategy),
  validate: validateClaimStatus,
};

export const persistentVolumeClaim = builtInKind("persistentvolumeclaims", {
  endpoint: stored(persistentVolumeClaimStrategy),
  table: { cells: persistentVolumeClaimCells },
  defaults: {
    "core/v1.PersistentVolumeClaim": defaultClaim,
    "core/v1.VolumeResourceRequirements": roundRequirements,
  },
  subresources: {
    status: subresource(persistentVolumeClaimStatusStrategy),
  },
});

function persistentVolumeClaimCells(claim: JsonObject): Cells {
  const volume = textOf(objectOf(claim["spec"])["volumeName"]);
  const status = objectOf(claim["status"]);
  return {
    ...claimedCells(claim),
    Volume: volume,
    Capacity: volume === "" ? "" : quantityText(objectOf(status["capacity"])["storage"]),
    "Access Modes": volume === "" ? "" : accessModesText(textsOf(status["accessModes"])),
  };
}
