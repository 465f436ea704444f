import { persistentVolumeDescriptions } from "./persistent-volume-descriptions.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { formatTime } from "../../api/time.ts";
import type { PersistentVolume } from "../../api/types/core-v1.ts";
import { persistentVolumeWarnings } from "./persistent-volume-warnings.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePersistentVolume, validatePersistentVolumeUpdate } from "./validation/persistent-volume.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { quantityText } from "../../api/codec/table/quantity-text.ts";
import { objectOf, textOf, textsOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { accessModesText, claimedCells } from "./volume-cells.ts";
import {
  defaultPersistentIscsi,
  defaultPersistentRbd,
  defaultPersistentScaleIo,
} from "./defaults/persistent-volume-source.ts";
import { defaultPersistentVolume } from "./defaults/persistent-volume.ts";

const persistentVolumeStrategy: Strategy<PersistentVolume> = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  prepareForCreate(volume) {
    const { creationTimestamp: now } = volume.metadata;
    volume.status = { phase: "Pending", ...(now ? { lastPhaseTransitionTime: now } : {}) };
  },
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
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
    "core/v1.ISCSIPersistentVolumeSource": defaultPersistentIscsi,
    "core/v1.PersistentVolume": defaultPersistentVolume,
    "core/v1.RBDPersistentVolumeSource": defaultPersistentRbd,
    "core/v1.ScaleIOPersistentVolumeSource": defaultPersistentScaleIo,
  },
  subresources: {
    status: subresource(persistentVolumeStatusStrategy),
  },
  descriptions: persistentVolumeDescriptions,
});

function persistentVolumeCells(volume: JsonObject): Cells {
  const spec = objectOf(volume["spec"]);
  const claim = objectOf(spec["claimRef"]);
  return {
    ...claimedCells(volume),
    Capacity: quantityText(objectOf(spec["capacity"])["storage"]),
    "Access Modes": accessModesText(textsOf(spec["accessModes"])),
    "Reclaim Policy": textOf(spec["persistentVolumeReclaimPolicy"]),
    Claim: spec["claimRef"] === undefined ? "" : `${textOf(claim["namespace"])}/${textOf(claim["name"])}`,
    Reason: textOf(objectOf(volume["status"])["reason"]),
  };
}
