import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedList, validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";
import { isNativeResource } from "../../../api/validation/resource-name.ts";
import { validateNodeSelector } from "../../core/validation/node-selector.ts";
import { validateBindingConditions } from "./binding-conditions.ts";
import { validateCapacityPolicy } from "./capacity-policy.ts";
import { validateCounters } from "./counter-set.ts";
import { validateAttributeName, validateDeviceLabel } from "./device-names.ts";
import { validateDeviceTaint } from "./device-taint.ts";

const attributesMax = 32;
const attributeValuesMax = 48;
const attributeBytesMax = 64;
const taintsMax = 16;
const consumptionsMax = 2;
const attributeTypes = ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"] as const;
const listTypes = ["bools", "ints", "strings", "versions"] as const;
const ownNodesText = "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

/**
 * Validates one device of a slice.
 * @param old the device of that name before; taints that it had are not judged again
 */
export function validateDevice(
  device: resourceV1.Device,
  { old, hasOwnNodes }: { old: resourceV1.Device | undefined; hasOwnNodes: boolean },
  field: string,
): FieldError[] {
  const { attributes = {}, capacity = {}, taints = [], consumesCounters = [] } = device;
  const isSame = old !== undefined && equalJson(old.taints, device.taints);
  const isShared = device.allowMultipleAllocations === true;
  return [
    ...validateDeviceLabel(device.name, `${field}.name`),
    ...validateCounts(Object.values(attributes), Object.keys(capacity).length, field),
    ...Object.entries(attributes).flatMap(([name, attribute]) => [
      ...validateAttributeName(name, `${field}.attributes`),
      ...validateAttribute(attribute, `${field}.attributes[${name}]`),
    ]),
    ...Object.entries(capacity).flatMap(([name, value]) => [
      ...validateAttributeName(name, `${field}.capacity`),
      ...validateCapacity(value, isShared, `${field}.capacity[${name}]`),
    ]),
    ...(isSame ? [] : validateBoundedList(taints, taintsMax, validateDeviceTaint, `${field}.taints`)),
    ...validateBoundedSet(
      consumesCounters,
      { max: consumptionsMax, keyOf: ({ counterSet }) => counterSet, validate: validateConsumption },
      `${field}.consumesCounters`,
    ),
    ...validateNodes(device, hasOwnNodes, field),
    ...validateBindingConditions(device, field),
    ...validateMappings(device, `${field}.nodeAllocatableResourceMappings`),
  ];
}

/** Reports whether an attribute of the device has several values. */
export function hasListAttribute({ attributes = {} }: resourceV1.Device): boolean {
  return Object.values(attributes).some((attribute) => listTypes.some((type) => attribute[type] !== undefined));
}

function validateCounts(
  attributes: readonly resourceV1.DeviceAttribute[],
  capacities: number,
  field: string,
): FieldError[] {
  const count = attributes.length + capacities;
  const values = attributes.reduce((sum, attribute) => {
    const listed = listTypes.reduce((total, type) => total + (attribute[type]?.length ?? 0), 0);
    return sum + Math.max(1, listed);
  }, 0);
  const valuesText = `the total number of attribute values must not exceed ${attributeValuesMax}`;
  return [
    ...(count > attributesMax
      ? [
          fieldError.invalid(
            field,
            count,
            `the total number of attributes and capacities must not exceed ${attributesMax}`,
          ),
        ]
      : []),
    ...(values > attributeValuesMax ? [fieldError.invalid(field, values, valuesText)] : []),
  ];
}

/** An attribute has one value, or one list of values, of one type. */
function validateAttribute(attribute: resourceV1.DeviceAttribute, field: string): FieldError[] {
  const { string, version, strings = [], versions = [] } = attribute;
  const given = attributeTypes.filter((type) => attribute[type] !== undefined);
  const errors = [
    ...(string === undefined ? [] : validateString(string, `${field}.string`)),
    ...(version === undefined ? [] : validateVersion(version, `${field}.version`)),
    ...listTypes
      .filter((type) => attribute[type]?.length === 0)
      .map((type) => fieldError.invalid(`${field}.${type}`, [], "must not be empty if specified")),
    ...strings.flatMap((text, at) => validateString(text, `${field}.strings[${at}]`)),
    ...versions.flatMap((text, at) => validateVersion(text, `${field}.versions[${at}]`)),
  ];
  if (given.length === 1) return errors;
  const shown = given.length === 0 ? "" : internalForm(attribute, "resource/v1.DeviceAttribute");
  return [...errors, fieldError.invalid(field, shown, "exactly one value must be specified")];
}

function validateString(text: string, field: string): FieldError[] {
  return Buffer.byteLength(text) > attributeBytesMax ? [fieldError.tooLong(field, attributeBytesMax)] : [];
}

function validateVersion(text: string, field: string): FieldError[] {
  const errors = isSemanticVersion(text)
    ? []
    : [fieldError.invalid(field, text, "must be a string compatible with semver.org spec 2.0.0")];
  return [...errors, ...validateString(text, field)];
}

/** `1.2.3-alpha.1+build.5`. Read in parts, so that no text takes long. */
function isSemanticVersion(text: string): boolean {
  const [beforeBuild = "", ...build] = text.split("+");
  const dash = beforeBuild.indexOf("-");
  const core = dash < 0 ? beforeBuild : beforeBuild.slice(0, dash);
  const before = dash < 0 ? [] : beforeBuild.slice(dash + 1).split(".");
  const numbers = core.split(".");
  const isIdentifier = (part: string) => /^[0-9A-Za-z-]+$/.test(part);
  return (
    numbers.length === 3 &&
    numbers.every((part) => /^(0|[1-9][0-9]*)$/.test(part)) &&
    before.every((part) => isIdentifier(part) && !/^0[0-9]+$/.test(part)) &&
    build.length <= 1 &&
    build.every((all) => all.split(".").every(isIdentifier))
  );
}

function validateCapacity(capacity: resourceV1.DeviceCapacity, isShared: boolean, field: string): FieldError[] {
  const { requestPolicy: policy, value } = capacity;
  if (policy === undefined) return [];
  if (!isShared) return [fieldError.forbidden(`${field}.requestPolicy`, "allowMultipleAllocations must be true")];
  return validateCapacityPolicy(policy, value, `${field}.requestPolicy`);
}

function validateConsumption(consumption: resourceV1.DeviceCounterConsumption, field: string): FieldError[] {
  const { counterSet: name, counters } = consumption;
  const errors =
    name === "" ? [fieldError.required(`${field}.counterSet`)] : validateDeviceLabel(name, `${field}.counterSet`);
  return [...errors, ...validateCounters(counters, `${field}.counters`)];
}

/** A device names its nodes only if that is not done for the whole slice. */
function validateNodes(device: resourceV1.Device, hasOwnNodes: boolean, field: string): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  if (!hasOwnNodes) {
    if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return [];
    const text =
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    return [fieldError.invalid(field, null, text)];
  }
  const name = nodeName ?? "";
  const errors = [
    ...(nodeName === "" ? [fieldError.invalid(`${field}.nodeName`, "", "must not be empty")] : []),
    ...(name === ""
      ? []
      : dnsSubdomainProblems(name).map((problem) => fieldError.invalid(`${field}.nodeName`, name, problem))),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, `${field}.nodeSelector`)),
    ...(allNodes === false
      ? [fieldError.invalid(`${field}.allNodes`, false, "must be either unset or set to true")]
      : []),
  ];
  const given = [
    ...(name === "" ? [] : ["`nodeName`"]),
    ...(nodeSelector === undefined ? [] : ["`nodeSelector`"]),
    ...(allNodes === true ? ["`allNodes`"] : []),
  ];
  const text = `exactly one of \`nodeName\`, \`nodeSelector\`, or \`allNodes\` ${ownNodesText}`;
  if (given.length === 0) errors.push(fieldError.required(field, text));
  if (given.length > 1) errors.push(fieldError.invalid(field, `{${given.join(", ")}}`, text));
  return errors;
}

/** Validates how using the device uses resources of the node. */
function validateMappings(
  { nodeAllocatableResourceMappings: mappings = {}, capacity = {} }: resourceV1.Device,
  field: string,
): FieldError[] {
  return Object.entries(mappings).flatMap(([resource, { allocationMultiplier: factor, capacityKey: key }]) => {
    const path = `${field}[${resource}]`;
    const errors = isNativeResource(resource)
      ? []
      : [fieldError.invalid(path, resource, "must be a node allocatable resource name")];
    if (factor === undefined && key === undefined) {
      return [
        ...errors,
        fieldError.invalid(path, "", "at least one of allocationMultiplier or capacityKey must be set"),
      ];
    }
    if (factor !== undefined && (parsedQuantity(factor)?.nanos ?? 1n) <= 0n) {
      errors.push(fieldError.invalid(`${path}.allocationMultiplier`, factor, "must be positive"));
    }
    if (key === "") {
      errors.push(fieldError.invalid(`${path}.capacityKey`, "", "capacityKey must not be an empty string"));
    } else if (key !== undefined && !Object.hasOwn(capacity, key)) {
      errors.push(fieldError.notFound(`${path}.capacityKey`, key));
    }
    return errors;
  });
}
