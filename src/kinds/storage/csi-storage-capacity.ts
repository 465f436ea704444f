import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiStorageCapacity, validateCsiStorageCapacityUpdate } from "./validation/csi-storage-capacity.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { quantityText } from "../../api/codec/table/quantity-text.ts";
import { textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const csiStorageCapacityStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validate: validateCsiStorageCapacity,
  validateUpdate: validateCsiStorageCapacityUpdate,
};

export const csiStorageCapacity = builtInKind("csistoragecapacities.storage.k8s.io", {
  endpoint: stored(csiStorageCapacityStrategy),
  table: { cells: csiStorageCapacityCells },
});

function csiStorageCapacityCells(capacity: JsonObject): Cells {
  return {
    StorageClassName: textIn(capacity, "storageClassName"),
    Capacity: quantityText(capacity["capacity"]) || "<unset>",
  };
}
