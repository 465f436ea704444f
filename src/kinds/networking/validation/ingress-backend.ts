import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as networkingV1 from "../../../api/types/networking-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  pathSegmentProblems,
  portNameProblems,
} from "../../../api/validation/names.ts";
import { validatePortNumber } from "../../../api/validation/port.ts";

/** A reference to an object of any kind, in the same namespace or the cluster. */
interface TypedReference {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
}

export function validateIngressBackend(backend: networkingV1.IngressBackend, field: string): FieldError[] {
  const { resource, service } = backend;
  if (resource !== undefined && service !== undefined) {
    return [fieldError.invalid(field, "", "cannot set both resource and service backends")];
  }
  if (resource !== undefined) return validateTypedReference(resource, `${field}.resource`);
  if (service !== undefined) return validateService(service, field);
  return [fieldError.invalid(field, "", "resource or service backend is required")];
}

export function validateTypedReference({ apiGroup, kind, name }: TypedReference, field: string): FieldError[] {
  return [
    ...validateGroup(apiGroup, `${field}.apiGroup`),
    ...validateSegment(kind, `${field}.kind`),
    ...validateSegment(name, `${field}.name`),
  ];
}

function validateService({ name, port = {} }: networkingV1.IngressServiceBackend, field: string): FieldError[] {
  const errors =
    name === ""
      ? [fieldError.required(`${field}.service.name`)]
      : validateText(name, dnsLabelProblems, `${field}.service.name`);
  const hasName = (port.name ?? "") !== "";
  const hasNumber = (port.number ?? 0) !== 0;
  if (hasName && hasNumber) {
    return [...errors, fieldError.invalid(field, "", "cannot set both port name & port number")];
  }
  if (hasName) return [...errors, ...validateText(port.name, portNameProblems, `${field}.service.port.name`)];
  if (hasNumber) return [...errors, ...validatePortNumber(port.number, `${field}.service.port.number`)];
  return [...errors, fieldError.required(field, "port name or number is required")];
}

/** The core group is named by leaving the group out, so an empty text is not a group. */
function validateGroup(group: string | null | undefined, field: string): FieldError[] {
  if (group === undefined || group === null) return [];
  return dnsSubdomainProblems(group).map((problem) => fieldError.invalid(field, group, problem));
}

function validateSegment(text: string, field: string): FieldError[] {
  return text === "" ? [fieldError.required(field)] : validateText(text, pathSegmentProblems, field);
}
