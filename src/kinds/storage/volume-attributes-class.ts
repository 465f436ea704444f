import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateVolumeAttributesClass, validateVolumeAttributesClassUpdate } from "./validation/storage-class.ts";

export const volumeAttributesClass = builtInKind("volumeattributesclasses.storage.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    validate: validateVolumeAttributesClass,
    validateUpdate: validateVolumeAttributesClassUpdate,
  }),
});
