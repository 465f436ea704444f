import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonValue } from "../../../api/json.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { isExtendedResource } from "../../../api/validation/resource-name.ts";
import { validateDeviceConfiguration } from "./device-configuration.ts";
import { compileSelectors, validateDeviceSelectors } from "./device-selector.ts";

const configurationsMax = 32;

/** Selectors count as stored expressions if an update changes none of them. */
export function* validateDeviceClass(
  { spec }: resourceV1.DeviceClass,
  old?: resourceV1.DeviceClass,
): Generator<void, FieldError[]> {
  const { selectors = [], config = [], extendedResourceName: name } = spec;
  const keepsSelectors =
    old !== undefined && equalJson(selectors as JsonValue, (old.spec.selectors ?? []) as JsonValue);
  const problems = yield* compileSelectors([selectors], keepsSelectors ? "stored" : "new");
  return [
    ...validateDeviceSelectors(selectors, problems, "spec.selectors"),
    ...validateBoundedList(config, configurationsMax, validateDeviceConfiguration, "spec.config"),
    ...(name === undefined || isExtendedResource(name)
      ? []
      : [fieldError.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")]),
  ];
}
