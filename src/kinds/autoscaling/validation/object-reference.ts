import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { CrossVersionObjectReference } from "../../../api/types/autoscaling-v2.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { pathSegmentProblems } from "../../../api/validation/names.ts";

/** @param rule whether the apiVersion may be anything, has to be one, or has to name a group */
export function validateObjectReference(
  { kind, name, apiVersion = "" }: CrossVersionObjectReference,
  rule: "any" | "version" | "group",
  field: string,
): FieldError[] {
  return [
    ...validateSegment(kind, `${field}.kind`),
    ...validateSegment(name, `${field}.name`),
    ...(rule === "any" ? [] : validateVersion(apiVersion, rule, `${field}.apiVersion`)),
  ];
}

/** True for `group/version`, and for a version of the group without a name. */
export function isVersionText(apiVersion: string): boolean {
  return apiVersion.split("/").length <= 2;
}

function validateSegment(text: string, field: string): FieldError[] {
  return text === "" ? [fieldError.required(field)] : validateText(text, pathSegmentProblems, field);
}

function validateVersion(apiVersion: string, rule: "version" | "group", field: string): FieldError[] {
  if (!isVersionText(apiVersion)) {
    return [fieldError.invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  }
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  if (rule === "version" || group !== "") return [];
  return [fieldError.invalid(field, apiVersion, "apiVersion must specify API group")];
}
