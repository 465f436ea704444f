import { declaredSubdomainProblems } from "../../api/validation/names.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateDeviceClass } from "./validation/device-class.ts";

export const deviceClass = builtInKind("deviceclasses.resource.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    validateName: declaredSubdomainProblems,
    validatesPrefix: false,
    returnsDeletedObject: true,
    generationFields: ["spec"],
    validateInTurns: validateDeviceClass,
  }),
  descriptions: {
    "resource/v1.DeviceClass": { "": "A kind of device that claims can ask for." },
    "resource/v1.DeviceClassSpec": {
      "": "The devices of a class.",
      selectors: "Expressions that a device has to meet.",
      config: "Settings for the driver.",
      extendedResourceName: "Name under which containers can ask for the devices.",
    },
  },
});
