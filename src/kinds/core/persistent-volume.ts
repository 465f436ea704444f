import type { Cells } from "../../api/codec/table/table-rules.ts";
import { formatTime } from "../../api/time.ts";
import type {
  ISCSIPersistentVolumeSource,
  PersistentVolume,
  RBDPersistentVolumeSource,
  ScaleIOPersistentVolumeSource,
} from "../../api/types/core-v1.ts";
import { atOnce } from "../../process/sliced.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { persistentVolumeDescriptions } from "./persistent-volume-descriptions.ts";
import { persistentVolumeWarnings } from "./persistent-volume-warnings.ts";
import { roundResourceList } from "./resource-list.ts";
import { validatePersistentVolume, validatePersistentVolumeUpdate } from "./validation/persistent-volume.ts";
import { accessModesText, claimedCells } from "./volume-cells.ts";

const persistentVolumeStrategy: Strategy<PersistentVolume> = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  prepareForCreate(volume) {
    const { creationTimestamp: now } = volume.metadata;
    volume.status = { phase: "Pending", ...(now ? { lastPhaseTransitionTime: now } : {}) };
  },
  validateInTurns: validatePersistentVolume,
  // Upstream reports mistakes of the spec twice.
  validateUpdate: (volume, old) => [
    ...atOnce(validatePersistentVolume(volume)),
    ...validatePersistentVolumeUpdate(volume, old),
  ],
  warnings: persistentVolumeWarnings,
};

const writeStatus = statusStrategy(persistentVolumeStrategy);

const persistentVolumeStatusStrategy: Strategy<PersistentVolume> = {
  ...writeStatus,
  prepareForUpdate(volume, old, nowMs) {
    writeStatus.prepareForUpdate(volume, old, nowMs);
    const { status = {} } = volume;
    const { phase, lastPhaseTransitionTime: before } = old.status ?? {};
    const { lastPhaseTransitionTime: time } = status;
    if (status.phase === phase) {
      if (time === undefined && before !== undefined) volume.status = { ...status, lastPhaseTransitionTime: before };
    } else if (time === undefined || time === before) {
      volume.status = { ...status, lastPhaseTransitionTime: formatTime(nowMs) };
    }
  },
};

export const persistentVolume = builtInKind("persistentvolumes", {
  endpoint: stored(persistentVolumeStrategy),
  table: { cells: persistentVolumeCells },
  defaults: {
    "core/v1.ISCSIPersistentVolumeSource": defaultIscsi,
    "core/v1.PersistentVolume": defaultPersistentVolume,
    "core/v1.RBDPersistentVolumeSource": defaultRbd,
    "core/v1.ScaleIOPersistentVolumeSource": defaultScaleIo,
  },
  subresources: {
    status: subresource(persistentVolumeStatusStrategy),
  },
  descriptions: persistentVolumeDescriptions,
});

function persistentVolumeCells(volume: PersistentVolume): Cells {
  const { spec = {}, status = {} } = volume;
  const claim = spec.claimRef;
  return {
    ...claimedCells(volume),
    Capacity: spec.capacity?.["storage"] ?? "",
    "Access Modes": accessModesText(spec.accessModes ?? []),
    "Reclaim Policy": spec.persistentVolumeReclaimPolicy ?? "",
    Claim: claim === undefined ? "" : `${claim.namespace ?? ""}/${claim.name ?? ""}`,
    Reason: status.reason ?? "",
  };
}

function defaultPersistentVolume(volume: PersistentVolume): void {
  volume.status ??= {};
  volume.status.phase ||= "Pending";
  const { spec } = volume;
  if (spec === undefined) return;
  spec.persistentVolumeReclaimPolicy ||= "Retain";
  spec.volumeMode ??= "Filesystem";
  roundResourceList(spec.capacity);
}

// Three sources have types of their own, with the defaults of the volumes of pods.

function defaultIscsi(source: ISCSIPersistentVolumeSource): void {
  source.iscsiInterface ||= "default";
}

function defaultRbd(source: RBDPersistentVolumeSource): void {
  source.pool ||= "rbd";
  source.user ||= "admin";
  source.keyring ||= "/etc/ceph/keyring";
}

function defaultScaleIo(source: ScaleIOPersistentVolumeSource): void {
  source.storageMode ||= "ThinProvisioned";
  source.fsType ||= "xfs";
}
