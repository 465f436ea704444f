import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { validateCounterSet } from "./counter-set.ts";
import { validateDevice } from "./device.ts";
import { validatePoolName } from "./device-names.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateNodeSelector } from "../../core/validation/node-selector.ts";
import { isPresent, numberOf, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const devicesMax = 128;
/** Of devices that cost more to look at. */
const complexDevicesMax = 64;
const counterSetsMax = 8;
const oneOfText = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

export function validateResourceSlice(slice: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(slice["spec"]);
  const devices = objectsOf(spec["devices"]);
  const before = new Map(objectsOf(fieldsOf(old?.["spec"])["devices"]).map((device) => [nameOf(device), device]));
  const isComplex = devices.some(
    (device) => objectsOf(device["taints"]).length > 0 || objectsOf(device["consumesCounters"]).length > 0,
  );
  const hasOwnNodes = spec["perDeviceNodeSelection"] === true;
  return [
    ...validateCsiDriverName(textOf(spec["driver"]), "spec.driver"),
    ...validatePool(fieldsOf(spec["pool"]), "spec.pool"),
    ...validateNodes(spec),
    ...(objectsOf(spec["sharedCounters"]).length > 0 && devices.length > 0
      ? [fieldError.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")]
      : []),
    ...validateBoundedSet(
      devices,
      {
        max: isComplex ? complexDevicesMax : devicesMax,
        keyOf: nameOf,
        validate: (device, field) => validateDevice(device, { old: before.get(nameOf(device)), hasOwnNodes }, field),
      },
      "spec.devices",
    ),
    ...validateBoundedSet(
      objectsOf(spec["sharedCounters"]),
      { max: counterSetsMax, keyOf: nameOf, validate: validateCounterSet },
      "spec.sharedCounters",
    ),
  ];
}

/** A slice stays with its driver, its pool and its node; another one is another slice. */
export function validateResourceSliceUpdate(slice: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(slice["spec"]), fieldsOf(old["spec"])];
  return [
    ...validateImmutable(fieldsOf(fresh["pool"])["name"], fieldsOf(stored["pool"])["name"], "spec.pool.name"),
    ...validateImmutable(fresh["driver"], stored["driver"], "spec.driver"),
    ...validateImmutable(fresh["nodeName"], stored["nodeName"], "spec.nodeName"),
  ];
}

function nameOf(object: JsonObject): string {
  return textOf(object["name"]);
}

function validatePool(pool: JsonObject, field: string): FieldError[] {
  const [count, generation] = [numberOf(pool["resourceSliceCount"]), numberOf(pool["generation"])];
  return [
    ...validatePoolName(nameOf(pool), `${field}.name`),
    ...(count > 0 ? [] : [fieldError.invalid(`${field}.resourceSliceCount`, count, "must be greater than zero")]),
    ...(generation < 0
      ? [fieldError.invalid(`${field}.generation`, generation, "must be greater than or equal to zero")]
      : []),
  ];
}

/** Which nodes can use the devices: named in one way. */
function validateNodes(spec: JsonObject): FieldError[] {
  const { nodeName, nodeSelector } = spec;
  const errors: FieldError[] = [];
  const given: string[] = [];
  if (nodeName === "") {
    errors.push(fieldError.invalid("spec.nodeName", "", "must be either unset or set to a non-empty string"));
  } else if (isPresent(nodeName)) {
    given.push("`nodeName`");
    const problems = dnsSubdomainProblems(textOf(nodeName));
    errors.push(...problems.map((problem) => fieldError.invalid("spec.nodeName", nodeName, problem)));
  }
  if (isPresent(nodeSelector)) {
    given.push("`nodeSelector`");
    const terms = objectsOf(fieldsOf(nodeSelector)["nodeSelectorTerms"]);
    errors.push(...validateNodeSelector(nodeSelector, "spec.nodeSelector"));
    if (terms.length !== 1) {
      const text = "must have exactly one node selector term";
      errors.push(fieldError.invalid("spec.nodeSelector.nodeSelectorTerms", terms.length === 0 ? null : terms, text));
    }
  }
  for (const name of ["allNodes", "perDeviceNodeSelection"]) {
    if (spec[name] === true) given.push(`\`${name}\``);
    else if (isPresent(spec[name])) {
      errors.push(fieldError.invalid(`spec.${name}`, spec[name], "must be either unset or set to true"));
    }
  }
  if (given.length === 0) errors.push(fieldError.required("spec", oneOfText));
  if (given.length > 1) {
    errors.push(fieldError.invalid("spec", `{${given.join(", ")}}`, `${oneOfText}, but multiple fields are set`));
  }
  return errors;
}
