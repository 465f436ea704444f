import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateDeviceClass } from "./validation/device-class.ts";

export const deviceClass = builtInKind("deviceclasses.resource.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    validatesPrefix: false,
    returnsDeletedObject: true,
    generationFields: ["spec"],
    validate: validateDeviceClass,
  }),
});
