import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type * as coreV1 from "../../../api/types/core-v1.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { internalForms } from "../../../api/validation/internal-form.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateNodeSelector } from "../../core/validation/node-selector.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";
import { validateCounterSet } from "./counter-set.ts";
import { hasListAttribute, validateDevice } from "./device.ts";
import { validatePoolName } from "./device-names.ts";

const devicesMax = 128;
/** The limit for slices with devices that cost more to look at. */
const complexDevicesMax = 64;
const counterSetsMax = 8;
const oneOfText = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

export function validateResourceSlice(
  { spec }: resourceV1.ResourceSlice,
  old?: resourceV1.ResourceSlice,
): FieldError[] {
  const { devices = [], sharedCounters = [] } = spec;
  const before = new Map((old?.spec.devices ?? []).map((device) => [device.name, device]));
  const hasOwnNodes = spec.perDeviceNodeSelection === true;
  return [
    ...validateCsiDriverName(spec.driver, "spec.driver"),
    ...validatePool(spec.pool, "spec.pool"),
    ...(old === undefined ? [] : validateOwner(spec, old.spec)),
    ...validateNodes(spec),
    ...(isSet(spec, "sharedCounters") && isSet(spec, "devices")
      ? [fieldError.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")]
      : []),
    ...validateBoundedSet(
      devices,
      {
        max: devices.some(isComplex) ? complexDevicesMax : devicesMax,
        keyOf: ({ name }) => name,
        validate: (device, field) => validateDevice(device, { old: before.get(device.name), hasOwnNodes }, field),
      },
      "spec.devices",
    ),
    ...validateBoundedSet(
      sharedCounters,
      { max: counterSetsMax, keyOf: ({ name }) => name, validate: validateCounterSet },
      "spec.sharedCounters",
    ),
  ];
}

function isComplex(device: resourceV1.Device): boolean {
  const { taints = [], consumesCounters = [] } = device;
  return taints.length > 0 || consumesCounters.length > 0 || hasListAttribute(device);
}

/** A slice stays with its driver, its pool and its node. */
function validateOwner(spec: resourceV1.ResourceSliceSpec, old: resourceV1.ResourceSliceSpec): FieldError[] {
  return [
    ...validateImmutable(spec.pool.name, old.pool.name, "spec.pool.name"),
    ...validateImmutable(spec.driver, old.driver, "spec.driver"),
    ...validateImmutable(spec.nodeName, old.nodeName, "spec.nodeName"),
  ];
}

function validatePool({ name, resourceSliceCount, generation }: resourceV1.ResourcePool, field: string): FieldError[] {
  return [
    ...validatePoolName(name, `${field}.name`),
    ...(resourceSliceCount > 0
      ? []
      : [fieldError.invalid(`${field}.resourceSliceCount`, resourceSliceCount, "must be greater than zero")]),
    ...(generation < 0
      ? [fieldError.invalid(`${field}.generation`, generation, "must be greater than or equal to zero")]
      : []),
  ];
}

/** The nodes that can use the devices are named in exactly one way. */
function validateNodes(spec: resourceV1.ResourceSliceSpec): FieldError[] {
  const { nodeName, nodeSelector } = spec;
  const errors: FieldError[] = [];
  const given: string[] = [];
  if (nodeName === "") {
    errors.push(fieldError.invalid("spec.nodeName", "", "must be either unset or set to a non-empty string"));
  } else if (nodeName !== undefined) {
    given.push("`nodeName`");
    const problems = dnsSubdomainProblems(nodeName);
    errors.push(...problems.map((problem) => fieldError.invalid("spec.nodeName", nodeName, problem)));
  }
  if (nodeSelector !== undefined) {
    given.push("`nodeSelector`");
    errors.push(...validateNodeSelector(nodeSelector, "spec.nodeSelector"), ...validateTerms(nodeSelector));
  }
  for (const name of ["allNodes", "perDeviceNodeSelection"] as const) {
    if (spec[name] === true) given.push(`\`${name}\``);
    else if (spec[name] === false) {
      errors.push(fieldError.invalid(`spec.${name}`, false, "must be either unset or set to true"));
    }
  }
  if (given.length === 0) errors.push(fieldError.required("spec", oneOfText));
  if (given.length > 1) {
    errors.push(fieldError.invalid("spec", `{${given.join(", ")}}`, `${oneOfText}, but multiple fields are set`));
  }
  return errors;
}

function validateTerms({ nodeSelectorTerms: terms }: coreV1.NodeSelector): FieldError[] {
  if (terms?.length === 1) return [];
  const shown = terms === null ? null : internalForms(terms, "core/v1.NodeSelectorTerm");
  const text = "must have exactly one node selector term";
  return [fieldError.invalid("spec.nodeSelector.nodeSelectorTerms", shown, text)];
}

function isSet(spec: resourceV1.ResourceSliceSpec, list: "sharedCounters" | "devices"): boolean {
  return spec[list] !== undefined || isGivenEmpty(spec, list);
}
