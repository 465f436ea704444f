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
  descriptions: {
    "core/v1.PersistentVolumeClaim": { "": "Asks for storage, and stands for it once it is there." },
    "core/v1.PersistentVolumeClaimSpec": {
      "": "The wanted storage.",
      accessModes: "ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.",
      selector: "Labels of the volumes that come into question.",
      resources: "Requested size.",
      volumeName: "The volume that the claim has.",
      storageClassName: "Class of the storage.",
      volumeMode: "Filesystem or Block.",
      dataSource: "A snapshot or claim to fill the volume from.",
      dataSourceRef: "An object to fill the volume from, of any kind that has a populator.",
      volumeAttributesClassName: "Class of changeable attributes.",
    },
    "core/v1.PersistentVolumeClaimStatus": {
      "": "The observed storage.",
      phase: "Pending, Bound or Lost.",
      accessModes: "Ways in which the volume can be mounted.",
      capacity: "Size of the volume.",
      allocatedResources: "Size that is being allocated.",
      allocatedResourceStatuses: "Progress of the resize.",
      currentVolumeAttributesClassName: "Class of changeable attributes that the volume has.",
      modifyVolumeStatus: "Progress of a change of the class.",
    },
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
