import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { validateBoundedList, validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { validateDeviceConfiguration } from "./device-configuration.ts";
import { validateDeviceLabel, validateFullAttributeName } from "./device-names.ts";
import { validateDeviceSelectors } from "./device-selector.ts";
import { validateDeviceTolerations } from "./device-taint.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { isPresent, numberOf, objectsOf, textOf, textsOf, validateText } from "../../../api/validation/fields.ts";

const requestsMax = 32;
const subRequestsMax = 8;
const constraintsMax = 32;
const configurationsMax = 32;
const unknownRequestText =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Names that a claim gives its requests: `request`, and `request/subrequest`. */
export type RequestNames = ReadonlySet<string>;

/** The devices that a claim asks for, how they have to fit together, and how they are set up. */
export function validateDeviceClaim(claim: JsonObject, field: string): FieldError[] {
  const names = requestNamesOf(claim);
  return [
    ...validateBoundedSet(
      objectsOf(claim["requests"]),
      { max: requestsMax, keyOf: nameOf, validate: validateRequest },
      `${field}.requests`,
    ),
    ...validateBoundedList(
      objectsOf(claim["constraints"]),
      constraintsMax,
      (constraint, path) => validateConstraint(constraint, names, path),
      `${field}.constraints`,
    ),
    ...validateBoundedList(
      objectsOf(claim["config"]),
      configurationsMax,
      (configuration, path) => [
        ...validateRequestReferences(configuration["requests"], names, `${path}.requests`),
        ...validateDeviceConfiguration(configuration, path),
      ],
      `${field}.config`,
    ),
  ];
}

export function requestNamesOf(claim: JsonObject): RequestNames {
  const names = new Set<string>();
  for (const request of objectsOf(claim["requests"])) {
    names.add(nameOf(request));
    for (const sub of objectsOf(request["firstAvailable"])) names.add(`${nameOf(request)}/${nameOf(sub)}`);
  }
  return names;
}

/** A list of names of requests, each of which the claim has. */
export function validateRequestReferences(
  value: JsonValue | undefined,
  names: RequestNames,
  field: string,
): FieldError[] {
  return validateBoundedSet(
    textsOf(value),
    { max: requestsMax, keyOf: (name) => name, validate: (name, path) => validateRequestReference(name, names, path) },
    field,
  );
}

export function validateRequestReference(name: string, names: RequestNames, field: string): FieldError[] {
  const segments = name.split("/");
  if (segments.length > 2) return [fieldError.invalid(field, name, unknownRequestText)];
  const errors = segments.flatMap((segment) => validateDeviceLabel(segment, field));
  return names.has(name) ? errors : [...errors, fieldError.invalid(field, name, unknownRequestText)];
}

function nameOf(object: JsonObject): string {
  return textOf(object["name"]);
}

function validateRequest(request: JsonObject, field: string): FieldError[] {
  const errors = validateDeviceLabel(nameOf(request), `${field}.name`);
  const alternatives = objectsOf(request["firstAvailable"]);
  const { exactly } = request;
  const text = "exactly one of `exactly` or `firstAvailable` is required";
  if (isPresent(exactly) && alternatives.length > 0) {
    return [...errors, fieldError.invalid(field, null, `${text}, but multiple fields are set`)];
  }
  if (isPresent(exactly)) return [...errors, ...validateExact(fieldsOf(exactly), `${field}.exactly`)];
  if (alternatives.length === 0) return [...errors, fieldError.required(field, text)];
  const validate = (sub: JsonObject, path: string) => [
    ...validateDeviceLabel(nameOf(sub), `${path}.name`),
    ...validateExact(sub, path),
  ];
  const sets = { max: subRequestsMax, keyOf: nameOf, validate };
  return [...errors, ...validateBoundedSet(alternatives, sets, `${field}.firstAvailable`)];
}

/** How many devices of a class, which of them, and in spite of what. */
function validateExact(request: JsonObject, field: string): FieldError[] {
  const className = textOf(request["deviceClassName"]);
  return [
    ...(className === "" ? [fieldError.required(`${field}.deviceClassName`)] : []),
    ...validateText(className, dnsSubdomainProblems, `${field}.deviceClassName`),
    ...validateDeviceSelectors(request["selectors"], `${field}.selectors`),
    ...validateMode(request, field),
    ...validateDeviceTolerations(request["tolerations"], `${field}.tolerations`),
  ];
}

function validateMode({ allocationMode: mode, count }: JsonObject, field: string): FieldError[] {
  switch (mode) {
    case "All":
      if (numberOf(count) === 0) return [];
      return [fieldError.invalid(`${field}.count`, count, "must not be specified when allocationMode is 'All'")];
    case "ExactCount":
      if (numberOf(count) > 0) return [];
      return [fieldError.invalid(`${field}.count`, numberOf(count), "must be greater than zero")];
    default:
      return [fieldError.notSupported(`${field}.allocationMode`, textOf(mode), ["All", "ExactCount"])];
  }
}

function validateConstraint(constraint: JsonObject, names: RequestNames, field: string): FieldError[] {
  const { matchAttribute, distinctAttribute } = constraint;
  const errors = validateRequestReferences(constraint["requests"], names, `${field}.requests`);
  if (isPresent(matchAttribute)) {
    return [...errors, ...validateFullAttributeName(textOf(matchAttribute), `${field}.matchAttribute`)];
  }
  if (isPresent(distinctAttribute)) {
    return [...errors, ...validateFullAttributeName(textOf(distinctAttribute), `${field}.distinctAttribute`)];
  }
  const text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, fieldError.required(field, text)];
}
