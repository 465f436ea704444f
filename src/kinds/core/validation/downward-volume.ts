import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { validateFieldReference, validateResourceReference, volumeFieldPaths } from "./field-reference.ts";
import { validateFileMode } from "./key-reference.ts";
import { isPresent, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { validateUnreservedPath } from "../../../api/validation/local-path.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** Fields of a pod as files. Upstream names the volume in these errors, not the item of its list. */
export function validateDownwardFiles(files: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(files), (file) => validateDownwardFile(file, field));
}

export function validateDownwardFile(file: JsonObject, field: string): FieldError[] {
  const path = textOf(file["path"]);
  return [
    ...(path === "" ? [fieldError.required(`${field}.path`)] : []),
    ...validateUnreservedPath(path, `${field}.path`),
    ...validateSource(file, field),
    ...validateFileMode(file["mode"], `${field}.mode`),
  ];
}

function validateSource(file: JsonObject, field: string): FieldError[] {
  const [ofPod, ofContainer] = [file["fieldRef"], file["resourceFieldRef"]];
  if (isPresent(ofPod)) {
    const errors = validateFieldReference(objectOf(ofPod), volumeFieldPaths, `${field}.fieldRef`);
    if (!isPresent(ofContainer)) return errors;
    const text = "fieldRef and resourceFieldRef can not be specified simultaneously";
    return [...errors, fieldError.invalid(field, "resource", text)];
  }
  if (isPresent(ofContainer))
    return validateResourceReference(objectOf(ofContainer), `${field}.resourceFieldRef`, true);
  return [fieldError.required(field, "one of fieldRef and resourceFieldRef is required")];
}
