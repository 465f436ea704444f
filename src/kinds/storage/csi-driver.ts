import { equalJson } from "../../api/json.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiDriver, validateCsiDriverUpdate } from "./validation/csi-driver.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const csiDriverStrategy: Strategy = {
  ...defaultStrategy,
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
});
