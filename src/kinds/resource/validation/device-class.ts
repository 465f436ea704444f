import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { validateDeviceConfiguration } from "./device-configuration.ts";
import { validateDeviceSelectors } from "./device-selector.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isExtendedResource } from "../../../api/validation/resource-name.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";

const configurationsMax = 32;

export function validateDeviceClass(deviceClass: KubeObject): FieldError[] {
  const { selectors, config, extendedResourceName: name } = fieldsOf(deviceClass["spec"]);
  return [
    ...validateDeviceSelectors(selectors, "spec.selectors"),
    ...validateBoundedList(objectsOf(config), configurationsMax, validateDeviceConfiguration, "spec.config"),
    ...(isPresent(name) && !isExtendedResource(textOf(name))
      ? [fieldError.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")]
      : []),
  ];
}
