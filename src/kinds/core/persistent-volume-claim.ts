import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { PersistentVolumeClaim } from "../../api/types/core-v1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { settleDataSource } from "./claim-data-source.ts";
import { claimWarnings } from "./claim-warnings.ts";
import { roundRequirements } from "./resource-list.ts";
import { validateClaim, validateClaimStatus, validateClaimUpdate } from "./validation/persistent-volume-claim.ts";
import { accessModesText, claimedCells } from "./volume-cells.ts";

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

function persistentVolumeClaimCells(claim: PersistentVolumeClaim): Cells {
  const { spec: { volumeName: volume = "" } = {}, status = {} } = claim;
  return {
    ...claimedCells(claim),
    Volume: volume,
    Capacity: volume === "" ? "" : (status.capacity?.["storage"] ?? "0"),
    "Access Modes": volume === "" ? "" : accessModesText(status.accessModes ?? []),
  };
}

function defaultClaim(claim: PersistentVolumeClaim): void {
  claim.status ??= {};
  claim.status.phase ||= "Pending";
  if (claim.spec !== undefined) claim.spec.volumeMode ??= "Filesystem";
}
