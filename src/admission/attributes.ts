import type { GroupResource } from "../api/gvk.ts";
import { type StatusCause, type StatusError, status } from "../api/status.ts";
import type { AdmissionAttributes } from "../registry/admission.ts";

/** Reports whether the request is for this resource, of any version. */
export function isResource({ info }: AdmissionAttributes, group: string, resource: string): boolean {
  return info.group === group && info.resource === resource;
}

/** Reports whether the request creates or updates an object of this resource rather than a subresource. */
export function isObjectWrite(attributes: AdmissionAttributes, { group, resource }: GroupResource): boolean {
  return attributes.operation !== "DELETE" && attributes.subresource === "" && isResource(attributes, group, resource);
}

/** Returns the 403 of a plugin with the object's name, or with what it is generated from. */
export function refuse(attributes: AdmissionAttributes, why: string, causes?: readonly StatusCause[]): StatusError {
  const { info, object, name } = attributes;
  const shown = name || object?.metadata.generateName || "Unknown";
  return status.forbidden({ group: info.group, resource: info.resource, name: shown }, why, causes);
}
