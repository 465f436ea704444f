import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { type ContainerContext, validateCommon, validateImageOfPod } from "./container.ts";
import { fieldsOf, isZero } from "../../../api/validation/key-values.ts";
import { objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** What a container that only looks into a running pod cannot have, in the order of its fields. */
const forbiddenFields = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
];
const forbiddenText = "cannot be set for an Ephemeral Container";

export function validateEphemeralContainers(spec: JsonObject, context: ContainerContext, field: string): FieldError[] {
  const others = ["containers", "initContainers"].flatMap((list) => objectsOf(spec[list]));
  const otherNames: ReadonlySet<string> = new Set(others.map((container) => textOf(container["name"])));
  const names = new Set(otherNames);
  return validateEach(objectsOf(spec["ephemeralContainers"]), (container, at) => {
    const item = `${field}[${at}]`;
    const [name, target] = [textOf(container["name"]), textOf(container["targetContainerName"])];
    const errors = [...validateCommon(container, context, item), ...validateImageOfPod(container, item)];
    if (names.has(name)) errors.push(fieldError.duplicate(`${item}.name`, name));
    names.add(name);
    if (target !== "" && !otherNames.has(target)) {
      errors.push(fieldError.notFound(`${item}.targetContainerName`, target));
    }
    return [...errors, ...forbidFields(container, item), ...forbidSubPaths(container, `${item}.volumeMounts`)];
  });
}

function forbidFields(container: JsonObject, field: string): FieldError[] {
  return forbiddenFields
    .filter((name) => !isUnset(container, name))
    .map((name) => fieldError.forbidden(`${field}.${name}`, forbiddenText));
}

function isUnset(container: JsonObject, name: string): boolean {
  const value = container[name];
  if (name === "resources") return Object.values(fieldsOf(value)).every((list) => isZero(list) || isEmptyList(list));
  return value === undefined || value === null || isEmptyList(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function forbidSubPaths(container: JsonObject, field: string): FieldError[] {
  return validateEach(objectsOf(container["volumeMounts"]), (mount, at) =>
    ["subPath", "subPathExpr"]
      .filter((name) => textOf(mount[name]) !== "")
      .map((name) => fieldError.forbidden(`${field}[${at}].${name}`, forbiddenText)),
  );
}
