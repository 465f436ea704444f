import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresources,
} from "../../../api/types/apiextensions-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateSimpleJsonPath } from "./simple-json-path.ts";

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Checks where the scale subresource finds the counts, and the selector for autoscalers. */
export function validateSubresources(
  subresources: CustomResourceSubresources | undefined,
  field: string,
): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = "" } = scale;
  return [
    ...validateReplicasPath(specReplicasPath, ".spec", `${field}.scale.specReplicasPath`),
    ...validateReplicasPath(statusReplicasPath, ".status", `${field}.scale.statusReplicasPath`),
    ...(labelSelectorPath === ""
      ? []
      : validateSimpleJsonPath(labelSelectorPath, [".spec", ".status"], `${field}.scale.labelSelectorPath`)),
  ];
}

function validateReplicasPath(path: string, root: string, field: string): FieldError[] {
  return path === "" ? [fieldError.required(field)] : validateSimpleJsonPath(path, [root], field);
}

/** Checks the columns of tables. */
export function validateColumns(columns: readonly CustomResourceColumnDefinition[], field: string): FieldError[] {
  return validateEach(columns, (column, at) => validateColumn(column, `${field}[${at}]`));
}

function validateColumn(column: CustomResourceColumnDefinition, field: string): FieldError[] {
  const { name, type, format = "", jsonPath } = column;
  const types = `must be one of ${columnTypes.join(",")}`;
  const errors = name === "" ? [fieldError.required(`${field}.name`)] : [];
  if (type === "") errors.push(fieldError.required(`${field}.type`, types));
  else if (!columnTypes.includes(type)) errors.push(fieldError.invalid(`${field}.type`, type, types));
  if (format !== "" && !columnFormats.includes(format)) {
    errors.push(fieldError.invalid(`${field}.format`, format, `must be one of ${columnFormats.join(",")}`));
  }
  if (jsonPath === "") return [...errors, fieldError.required(`${field}.JSONPath`)];
  return [...errors, ...validateSimpleJsonPath(jsonPath, [], `${field}.JSONPath`)];
}
