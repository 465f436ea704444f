import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePersistentVolume, validatePersistentVolumeUpdate } from "./validation/persistent-volume.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { quantityText } from "../../api/codec/table/quantity-text.ts";
import { structIn, textIn, textsIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { accessModesText, claimedCells } from "./volume-cells.ts";
import {
  defaultPersistentIscsi,
  defaultPersistentRbd,
  defaultPersistentScaleIo,
} from "./defaults/persistent-volume-source.ts";
import { defaultPersistentVolume } from "./defaults/persistent-volume.ts";

const persistentVolumeStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  prepareForCreate(volume) {
    volume["status"] = { phase: "Pending" };
  },
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
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
    status: subresource(statusStrategy(persistentVolumeStrategy)),
  },
});

function persistentVolumeCells(volume: JsonObject): Cells {
  const spec = structIn(volume, "spec");
  const claim = structIn(spec, "claimRef");
  return {
    ...claimedCells(volume),
    Capacity: quantityText(structIn(spec, "capacity")["storage"]),
    "Access Modes": accessModesText(textsIn(spec, "accessModes")),
    "Reclaim Policy": textIn(spec, "persistentVolumeReclaimPolicy"),
    Claim: spec["claimRef"] === undefined ? "" : `${textIn(claim, "namespace")}/${textIn(claim, "name")}`,
    Reason: textIn(structIn(volume, "status"), "reason"),
  };
}
