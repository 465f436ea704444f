import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateVolumeAttributesClass, validateVolumeAttributesClassUpdate } from "./validation/storage-class.ts";
import { textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

export const volumeAttributesClass = builtInKind("volumeattributesclasses.storage.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    validate: validateVolumeAttributesClass,
    validateUpdate: validateVolumeAttributesClassUpdate,
  }),
  table: { cells: volumeAttributesClassCells },
});

function volumeAttributesClassCells(attributesClass: JsonObject): Cells {
  return { DriverName: textIn(attributesClass, "driverName") };
}
