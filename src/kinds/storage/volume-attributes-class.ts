import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { VolumeAttributesClass } from "../../api/types/storage-v1.ts";
import { defaultStrategy, forNewObjects } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import {
  validateVolumeAttributesClass,
  validateVolumeAttributesClassUpdate,
} from "./validation/volume-attributes-class.ts";

export const volumeAttributesClass = builtInKind("volumeattributesclasses.storage.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    returnsDeletedObject: true,
    validate: forNewObjects(validateVolumeAttributesClass),
    validateUpdate: validateVolumeAttributesClassUpdate,
  }),
  table: { cells: volumeAttributesClassCells },
  descriptions: {
    "storage/v1.VolumeAttributesClass": {
      "": "Attributes of volumes that can be changed, such as their speed.",
      driverName: "Driver that knows them.",
      parameters: "The attributes.",
    },
  },
});

function volumeAttributesClassCells({ driverName }: VolumeAttributesClass): Cells {
  return { DriverName: driverName };
}
