import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { isExtendedResource } from "../../../api/validation/resource-name.ts";
import { validateDeviceConfiguration } from "./device-configuration.ts";
import { validateDeviceSelectors } from "./device-selector.ts";

const configurationsMax = 32;

export function validateDeviceClass({ spec }: resourceV1.DeviceClass): FieldError[] {
  const { selectors = [], config = [], extendedResourceName: name } = spec;
  return [
    ...validateDeviceSelectors(selectors, "spec.selectors"),
    ...validateBoundedList(config, configurationsMax, validateDeviceConfiguration, "spec.config"),
    ...(name === undefined || isExtendedResource(name)
      ? []
      : [fieldError.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")]),
  ];
}
