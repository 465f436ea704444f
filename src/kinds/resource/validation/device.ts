import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { validateBoundedList, validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { validateCapacityPolicy } from "./capacity-policy.ts";
import { validateCounters } from "./counter-set.ts";
import { validateAttributeName, validateDeviceLabel } from "./device-names.ts";
import { validateDeviceTaint } from "./device-taint.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateNodeSelector } from "../../core/validation/node-selector.ts";
import { isPresent, objectsOf, textOf, textsOf } from "../../../api/validation/fields.ts";

const attributesMax = 32;
const attributeBytesMax = 64;
const taintsMax = 16;
const consumptionsMax = 2;
const bindingConditionsMax = 4;
const attributeTypes = ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"];
const listTypes = ["strings", "versions"];
const ownNodesText = "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

/** One device of a slice. @param old the device of that name before; taints that it had are not judged again */
export function validateDevice(
  device: JsonObject,
  { old, hasOwnNodes }: { old: JsonObject | undefined; hasOwnNodes: boolean },
  field: string,
): FieldError[] {
  const [attributes, capacity] = [fieldsOf(device["attributes"]), fieldsOf(device["capacity"])];
  const isSame = old !== undefined && equalJson(old["taints"], device["taints"]);
  return [
    ...validateDeviceLabel(textOf(device["name"]), `${field}.name`),
    ...validateCount(Object.keys(attributes).length + Object.keys(capacity).length, field),
    ...Object.entries(attributes).flatMap(([name, value]) => [
      ...validateAttributeName(name, `${field}.attributes[${name}]`),
      ...validateAttribute(fieldsOf(value), `${field}.attributes[${name}]`),
    ]),
    ...Object.entries(capacity).flatMap(([name, value]) => [
      ...validateAttributeName(name, `${field}.capacity[${name}]`),
      ...validateCapacity(fieldsOf(value), device["allowMultipleAllocations"] === true, `${field}.capacity[${name}]`),
    ]),
    ...(isSame
      ? []
      : validateBoundedList(objectsOf(device["taints"]), taintsMax, validateDeviceTaint, `${field}.taints`)),
    ...validateBoundedSet(
      objectsOf(device["consumesCounters"]),
      { max: consumptionsMax, keyOf: ({ counterSet }) => textOf(counterSet), validate: validateConsumption },
      `${field}.consumesCounters`,
    ),
    ...validateNodes(device, hasOwnNodes, field),
    ...validateBinding(device, field),
  ];
}

function validateCount(count: number, field: string): FieldError[] {
  if (count <= attributesMax) return [];
  const text = `the total number of attributes and capacities must not exceed ${attributesMax}`;
  return [fieldError.invalid(field, count, text)];
}

/** A value of one type. */
function validateAttribute(attribute: JsonObject, field: string): FieldError[] {
  const given = attributeTypes.filter((type) => isPresent(attribute[type]));
  const errors = [
    ...(isPresent(attribute["string"]) ? validateString(attribute["string"], `${field}.string`) : []),
    ...(isPresent(attribute["version"]) ? validateVersion(attribute["version"], `${field}.version`) : []),
    ...listTypes.flatMap((type) =>
      textsOf(attribute[type]).flatMap((text, at) =>
        (type === "strings" ? validateString : validateVersion)(text, `${field}.${type}[${at}]`),
      ),
    ),
  ];
  if (given.length === 1) return errors;
  return [
    ...errors,
    fieldError.invalid(field, given.length === 0 ? "" : attribute, "exactly one value must be specified"),
  ];
}

function validateString(value: JsonValue, field: string): FieldError[] {
  return Buffer.byteLength(textOf(value)) > attributeBytesMax ? [fieldError.tooLong(field, attributeBytesMax)] : [];
}

function validateVersion(value: JsonValue, field: string): FieldError[] {
  const errors = isSemanticVersion(textOf(value))
    ? []
    : [fieldError.invalid(field, value, "must be a string compatible with semver.org spec 2.0.0")];
  return [...errors, ...validateString(value, field)];
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

function validateCapacity(capacity: JsonObject, isShared: boolean, field: string): FieldError[] {
  const policy = capacity["requestPolicy"];
  if (!isPresent(policy)) return [];
  if (!isShared) return [fieldError.forbidden(`${field}.requestPolicy`, "allowMultipleAllocations must be true")];
  return validateCapacityPolicy(fieldsOf(policy), capacity["value"], `${field}.requestPolicy`);
}

function validateConsumption(consumption: JsonObject, field: string): FieldError[] {
  const name = textOf(consumption["counterSet"]);
  const errors =
    name === "" ? [fieldError.required(`${field}.counterSet`)] : validateDeviceLabel(name, `${field}.counterSet`);
  return [...errors, ...validateCounters(consumption["counters"], `${field}.counters`)];
}

/** Nodes that can use the device, when that is not the same for the whole slice. */
function validateNodes(device: JsonObject, hasOwnNodes: boolean, field: string): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  if (!hasOwnNodes) {
    if (![nodeName, nodeSelector, allNodes].some(isPresent)) return [];
    const text =
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    return [fieldError.invalid(field, null, text)];
  }
  const errors = [
    ...(nodeName === "" ? [fieldError.invalid(`${field}.nodeName`, "", "must not be empty")] : []),
    ...(textOf(nodeName) === ""
      ? []
      : dnsSubdomainProblems(textOf(nodeName)).map((problem) =>
          fieldError.invalid(`${field}.nodeName`, nodeName, problem),
        )),
    ...(isPresent(nodeSelector) ? validateNodeSelector(nodeSelector, `${field}.nodeSelector`) : []),
    ...(allNodes === false
      ? [fieldError.invalid(`${field}.allNodes`, false, "must be either unset or set to true")]
      : []),
  ];
  const given = [
    ...(textOf(nodeName) === "" ? [] : ["`nodeName`"]),
    ...(isPresent(nodeSelector) ? ["`nodeSelector`"] : []),
    ...(allNodes === true ? ["`allNodes`"] : []),
  ];
  const text = `exactly one of \`nodeName\`, \`nodeSelector\`, or \`allNodes\` ${ownNodesText}`;
  if (given.length === 0) errors.push(fieldError.required(field, text));
  if (given.length > 1) errors.push(fieldError.invalid(field, `{${given.join(", ")}}`, text));
  return errors;
}

/** What has to happen before a pod is bound, and what says that it will not: one is of no use without the other. */
function validateBinding(device: JsonObject, field: string): FieldError[] {
  const [needed, failed] = [textsOf(device["bindingConditions"]), textsOf(device["bindingFailureConditions"])];
  const path = (list: string) => `${field}.${list}`;
  const validate = (type: string, at: string) =>
    labelKeyErrors(type).map((problem) => fieldError.invalid(at, type, problem));
  const set = { max: bindingConditionsMax, keyOf: (type: string) => type, validate };
  const errors = [
    ...validateBoundedSet(needed, set, path("bindingConditions")),
    ...validateBoundedSet(failed, set, path("bindingFailureConditions")),
    ...failed.flatMap((type, at) =>
      needed.includes(type)
        ? [
            fieldError.invalid(
              `${path("bindingFailureConditions")}[${at}]`,
              type,
              "bindingFailureConditions must not overlap with bindingConditions",
            ),
          ]
        : [],
    ),
  ];
  const lacks = (list: string, other: string) =>
    fieldError.invalid(path(list), [], `${list} are required to use ${other}`);
  if (needed.length === 0 && failed.length > 0) errors.push(lacks("bindingConditions", "bindingFailureConditions"));
  if (failed.length === 0 && needed.length > 0) errors.push(lacks("bindingFailureConditions", "bindingConditions"));
  return errors;
}
