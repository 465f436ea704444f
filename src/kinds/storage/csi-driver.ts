import { equalJson, type JsonObject } from "../../api/json.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiDriver, validateCsiDriverUpdate } from "./validation/csi-driver.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { structIn, structsIn, textIn, textsIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { defaultCsiDriver } from "./defaults/csi-driver.ts";

const csiDriverStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  allowUnconditionalUpdate: false,
  // The only kind whose generation starts with its first change.
  prepareForUpdate(driver, old) {
    if (equalJson(fieldsOf(driver["spec"]), fieldsOf(old["spec"]))) return;
    driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validate: validateCsiDriver,
  validateUpdate: validateCsiDriverUpdate,
};

export const csiDriver = builtInKind("csidrivers.storage.k8s.io", {
  endpoint: stored(csiDriverStrategy),
  table: { cells: csiDriverCells },
  defaults: {
    "storage/v1.CSIDriver": defaultCsiDriver,
  },
});

function csiDriverCells(driver: JsonObject): Cells {
  const spec = structIn(driver, "spec");
  const audiences = structsIn(spec, "tokenRequests").map((request) => textIn(request, "audience"));
  return {
    AttachRequired: spec["attachRequired"] !== false,
    PodInfoOnMount: spec["podInfoOnMount"] === true,
    StorageCapacity: spec["storageCapacity"] === true,
    TokenRequests: spec["tokenRequests"] === undefined ? "<unset>" : audiences.join(","),
    RequiresRepublish: spec["requiresRepublish"] === true,
    Modes: textsIn(spec, "volumeLifecycleModes").join(",") || "<none>",
  };
}
