import { type StatusCause, StatusError, status } from "../../api/status.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";

/** How the answer to a request that a policy denies differs from a plain 403. */
export interface PolicyRefusal {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Stands alone, without the name of the resource in front. */
  readonly message?: string;
}

/** Returns the answer to a request that a policy denies. */
export function policyRefusal(
  { requested, object, name }: AdmissionAttributes,
  text: string,
  { code, reason, causes, message }: PolicyRefusal,
): StatusError {
  const { group, resource } = requested;
  const shown = name === "" ? object?.metadata?.generateName || "Unknown" : name;
  const { status: forbidden } = status.forbidden({ group, resource, name: shown }, text, causes);
  return new StatusError({ ...forbidden, ...(message === undefined ? {} : { message }), code, reason });
}
