import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedList, validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateDeviceConfiguration } from "./device-configuration.ts";
import { validateDeviceLabel, validateFullAttributeName } from "./device-names.ts";
import { compileSelectors, type ExpressionProblems, validateDeviceSelectors } from "./device-selector.ts";
import { validateDeviceTolerations } from "./device-taint.ts";

const requestsMax = 32;
const subRequestsMax = 8;
const constraintsMax = 32;
const configurationsMax = 32;
const unknownRequestText =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Names that a claim gives its requests: `request`, and `request/subrequest`. */
export type RequestNames = ReadonlySet<string>;

/** Validates the devices that a claim requests, the constraints between them, and their configuration. */
export function* validateDeviceClaim(claim: resourceV1.DeviceClaim, field: string): Generator<void, FieldError[]> {
  const { requests, constraints = [], config = [] } = claim;
  const names = requestNamesOf(claim);
  const problems = yield* compileSelectors(selectorsOf(requests ?? []));
  return [
    ...validateBoundedSet(
      requests ?? [],
      {
        max: requestsMax,
        keyOf: ({ name }) => name,
        validate: (request, path) => validateRequest(request, problems, path),
      },
      `${field}.requests`,
    ),
    ...validateBoundedList(
      constraints,
      constraintsMax,
      (constraint, path) => validateConstraint(constraint, names, path),
      `${field}.constraints`,
    ),
    ...validateBoundedList(
      config,
      configurationsMax,
      (configuration, path) => [
        ...validateRequestReferences(configuration.requests ?? [], names, `${path}.requests`),
        ...validateDeviceConfiguration(configuration, path),
      ],
      `${field}.config`,
    ),
  ];
}

export function requestNamesOf({ requests }: resourceV1.DeviceClaim): RequestNames {
  const names = new Set<string>();
  for (const { name, firstAvailable = [] } of requests ?? []) {
    names.add(name);
    for (const sub of firstAvailable) names.add(`${name}/${sub.name}`);
  }
  return names;
}

/** Validates a list of names of requests, each of which the claim must have. */
export function validateRequestReferences(
  references: readonly string[],
  names: RequestNames,
  field: string,
): FieldError[] {
  return validateBoundedSet(
    references,
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

function* selectorsOf(requests: readonly resourceV1.DeviceRequest[]): Generator<readonly resourceV1.DeviceSelector[]> {
  if (requests.length > requestsMax) return;
  for (const { exactly, firstAvailable = [] } of requests) {
    if (exactly !== undefined) yield exactly.selectors ?? [];
    if (firstAvailable.length > subRequestsMax) continue;
    for (const { selectors = [] } of firstAvailable) yield selectors;
  }
}

function validateRequest(request: resourceV1.DeviceRequest, problems: ExpressionProblems, field: string): FieldError[] {
  const { name, exactly, firstAvailable = [] } = request;
  const errors = validateDeviceLabel(name, `${field}.name`);
  const text = "exactly one of `exactly` or `firstAvailable` is required";
  if (exactly !== undefined && firstAvailable.length > 0) {
    return [...errors, fieldError.invalid(field, null, `${text}, but multiple fields are set`)];
  }
  if (exactly !== undefined) return [...errors, ...validateExact(exactly, problems, `${field}.exactly`)];
  if (firstAvailable.length === 0) return [...errors, fieldError.required(field, text)];
  const validate = (sub: resourceV1.DeviceSubRequest, path: string) => [
    ...validateDeviceLabel(sub.name, `${path}.name`),
    ...validateExact(sub, problems, path),
  ];
  const sets = { max: subRequestsMax, keyOf: (sub: resourceV1.DeviceSubRequest) => sub.name, validate };
  return [...errors, ...validateBoundedSet(firstAvailable, sets, `${field}.firstAvailable`)];
}

function validateExact(
  request: resourceV1.ExactDeviceRequest | resourceV1.DeviceSubRequest,
  problems: ExpressionProblems,
  field: string,
): FieldError[] {
  const { deviceClassName: className, selectors = [], tolerations = [] } = request;
  const path = `${field}.deviceClassName`;
  return [
    ...(className === ""
      ? [fieldError.required(path)]
      : dnsSubdomainProblems(className).map((problem) => fieldError.invalid(path, className, problem))),
    ...validateDeviceSelectors(selectors, problems, `${field}.selectors`),
    ...validateMode(request.allocationMode ?? "", request.count ?? 0, field),
    ...validateDeviceTolerations(tolerations, `${field}.tolerations`),
  ];
}

function validateMode(mode: string, count: number | bigint, field: string): FieldError[] {
  switch (mode) {
    case "All":
      if (Number(count) === 0) return [];
      return [fieldError.invalid(`${field}.count`, count, "must not be specified when allocationMode is 'All'")];
    case "ExactCount":
      if (count > 0) return [];
      return [fieldError.invalid(`${field}.count`, count, "must be greater than zero")];
    default:
      return [fieldError.notSupported(`${field}.allocationMode`, mode, ["All", "ExactCount"])];
  }
}

function validateConstraint(constraint: resourceV1.DeviceConstraint, names: RequestNames, field: string): FieldError[] {
  const { requests = [], matchAttribute, distinctAttribute } = constraint;
  const errors = validateRequestReferences(requests, names, `${field}.requests`);
  if (matchAttribute !== undefined) {
    return [...errors, ...validateFullAttributeName(matchAttribute, `${field}.matchAttribute`)];
  }
  if (distinctAttribute !== undefined) {
    return [...errors, ...validateFullAttributeName(distinctAttribute, `${field}.distinctAttribute`)];
  }
  const text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, fieldError.required(field, text)];
}
