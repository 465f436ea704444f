import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { immutableText } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { textsOf } from "../../../api/validation/fields.ts";
import { needsHealthCheck } from "./service.ts";

const frozenText = "may not change once set";

/**
 * Addresses are given for good. A second family may come, and go with `ipFamilyPolicy: SingleStack`; everything is open
 * on the way to and from ExternalName.
 */
export function validateServiceUpdate(service: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(service["spec"]), fieldsOf(old["spec"])];
  const isExternal = fresh["type"] === "ExternalName" || stored["type"] === "ExternalName";
  return [
    ...(isExternal ? [] : [...validateClusterIps(fresh, stored), ...validateFamilies(fresh, stored)]),
    ...validateClass(fresh, stored),
    ...validateHealthCheckPort(fresh, stored),
  ];
}

function isHeadless(spec: JsonObject): boolean {
  return equalJson(spec["clusterIPs"], ["None"]);
}

function validateClusterIps(fresh: JsonObject, stored: JsonObject): FieldError[] {
  if (isHeadless(fresh) && isHeadless(stored)) return [];
  return validateDualList(fresh, stored, { list: "clusterIPs", singular: "clusterIP" });
}

function validateFamilies(fresh: JsonObject, stored: JsonObject): FieldError[] {
  if (isHeadless(fresh) || isHeadless(stored)) return [];
  return validateDualList(fresh, stored, { list: "ipFamilies", singular: "ipFamily" });
}

/** A Service has one address and one family, or two of each. */
const familiesMax = 2;

function validateDualList(
  fresh: JsonObject,
  stored: JsonObject,
  { list, singular }: { list: string; singular: string },
): FieldError[] {
  const [values, before] = [textsOf(fresh[list]), textsOf(stored[list])];
  const field = `spec.${list}`;
  if (before.length > 0 && values.length === 0) {
    return [fieldError.invalid(`${field}[0]`, fresh[list], `primary ${singular} can not be unset`)];
  }
  const isSameLength = values.length === before.length;
  // Each mistake shows the whole list, and none that is stored is longer.
  const compared = before.slice(0, isSameLength ? familiesMax : 1);
  const errors = compared.flatMap((value, at) =>
    value === values[at] ? [] : [fieldError.invalid(`${field}[${at}]`, fresh[list], frozenText)],
  );
  if (before.length === 2 && values.length === 1 && fresh["ipFamilyPolicy"] !== "SingleStack") {
    const text = `must be set to 'SingleStack' when releasing the secondary ${singular}`;
    errors.push(fieldError.invalid("spec.ipFamilyPolicy", fresh["ipFamilyPolicy"], text));
  }
  return errors;
}

function validateClass(fresh: JsonObject, stored: JsonObject): FieldError[] {
  const stays = fresh["type"] === "LoadBalancer" && stored["type"] === "LoadBalancer";
  const value: JsonValue | undefined = fresh["loadBalancerClass"];
  if (!stays || value === stored["loadBalancerClass"]) return [];
  return [fieldError.invalid("spec.loadBalancerClass", value, frozenText)];
}

function validateHealthCheckPort(fresh: JsonObject, stored: JsonObject): FieldError[] {
  const stays = needsHealthCheck(fresh) && needsHealthCheck(stored);
  if (!stays || fresh["healthCheckNodePort"] === stored["healthCheckNodePort"]) return [];
  return [fieldError.forbidden("spec.healthCheckNodePort", immutableText)];
}
