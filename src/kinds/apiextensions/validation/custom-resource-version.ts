import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateSimpleJsonPath } from "./simple-json-path.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Where the `scale` subresource finds the counts, and the selector for autoscalers. */
export function validateSubresources(value: JsonValue | undefined, field: string): FieldError[] {
  const scale = fieldsOf(value)["scale"];
  if (!isPresent(scale)) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = fieldsOf(scale);
  return [
    ...validateReplicasPath(textOf(specReplicasPath), ".spec", `${field}.scale.specReplicasPath`),
    ...validateReplicasPath(textOf(statusReplicasPath), ".status", `${field}.scale.statusReplicasPath`),
    ...(textOf(labelSelectorPath) === ""
      ? []
      : validateSimpleJsonPath(textOf(labelSelectorPath), [".spec", ".status"], `${field}.scale.labelSelectorPath`)),
  ];
}

function validateReplicasPath(path: string, root: string, field: string): FieldError[] {
  return path === "" ? [fieldError.required(field)] : validateSimpleJsonPath(path, [root], field);
}

/** Columns of tables. */
export function validateColumns(value: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(value), (column, at) => validateColumn(column, `${field}[${at}]`));
}

function validateColumn(column: JsonObject, field: string): FieldError[] {
  const [type, format, path] = [textOf(column["type"]), textOf(column["format"]), textOf(column["jsonPath"])];
  const types = `must be one of ${columnTypes.join(",")}`;
  const errors = textOf(column["name"]) === "" ? [fieldError.required(`${field}.name`)] : [];
  if (type === "") errors.push(fieldError.required(`${field}.type`, types));
  else if (!columnTypes.includes(type)) errors.push(fieldError.invalid(`${field}.type`, type, types));
  if (format !== "" && !columnFormats.includes(format)) {
    errors.push(fieldError.invalid(`${field}.format`, format, `must be one of ${columnFormats.join(",")}`));
  }
  if (path === "") return [...errors, fieldError.required(`${field}.JSONPath`)];
  return [...errors, ...validateSimpleJsonPath(path, [], `${field}.JSONPath`)];
}
