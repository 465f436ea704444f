import type { GroupResource } from "../api/gvk.ts";
import { type StatusCause, type StatusError, status } from "../api/status.ts";
import type { AdmissionAttributes } from "../registry/admission.ts";

/** Whether the request is about this resource, of any version. */
export function isResource({ info }: AdmissionAttributes, group: string, resource: string): boolean {
  return info.group === group && info.resource === resource;
}

/** A create or update of an object of this resource itself, not of a subresource. */
export function isObjectWrite(attributes: AdmissionAttributes, { group, resource }: GroupResource): boolean {
  return attributes.operation !== "DELETE" && attributes.subresource === "" && isResource(attributes, group, resource);
}

/** The 403 of a plugin, which names the object. One that has no name yet is named by its `generateName`. */
export function refuse(attributes: AdmissionAttributes, why: string, causes?: readonly StatusCause[]): StatusError {
  const { info, object, name } = attributes;
  const shown = name === "" ? (object?.metadata.generateName ?? "") : name;
  return status.forbidden({ group: info.group, resource: info.resource, name: shown }, why, causes);
}
