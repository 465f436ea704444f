import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateDeviceClass } from "./validation/device-class.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const deviceClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  validate: validateDeviceClass,
};

export const deviceClass = builtInKind("deviceclasses.resource.k8s.io", {
  endpoint: stored(deviceClassStrategy),
});
