import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems, identifierProblems } from "../../../api/validation/names.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const poolNameBytesMax = 253;
const identifierBytesMax = 32;

/** Checks the name of a device, a request or a counter. */
export function validateDeviceLabel(name: string, field: string): FieldError[] {
  return dnsLabelProblems(name).map((problem) => fieldError.invalid(field, name, problem));
}

/** DNS subdomains, joined by slashes. */
export function validatePoolName(name: string, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  const errors = Buffer.byteLength(name) > poolNameBytesMax ? [fieldError.tooLong(field, poolNameBytesMax)] : [];
  const parts = name
    .split("/")
    .flatMap((part) => dnsSubdomainProblems(part).map((problem) => fieldError.invalid(field, part, problem)));
  return [...errors, ...parts].slice(0, fieldErrorsMax);
}

/** Checks the name of an attribute or capacity: an identifier, with or without the domain of its owner. */
export function validateAttributeName(name: string, field: string): FieldError[] {
  const [first = "", second, ...rest] = name.split("/");
  if (rest.length > 0) return [];
  if (second === undefined) return validateIdentifier(first, field);
  return [
    ...(first === ""
      ? [fieldError.invalid(field, "", "the domain must not be empty")]
      : validateCsiDriverName(first, field)),
    ...(second === ""
      ? [fieldError.invalid(field, "", "the name must not be empty")]
      : validateIdentifier(second, field)),
  ];
}

export function validateFullAttributeName(name: string, field: string): FieldError[] {
  const errors = validateAttributeName(name, field);
  if (name.includes("/")) return errors;
  const text = "a fully qualified name must be a domain and a name separated by a slash";
  return [...errors, fieldError.invalid(field, name, text)];
}

function validateIdentifier(name: string, field: string): FieldError[] {
  return [
    ...(Buffer.byteLength(name) > identifierBytesMax ? [fieldError.tooLong(field, identifierBytesMax)] : []),
    ...identifierProblems(name).map((problem) => fieldError.invalid(field, name, problem)),
  ];
}
