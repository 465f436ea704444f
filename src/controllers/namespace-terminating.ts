import { StatusError } from "../api/status.ts";

/** Reports whether an object could not be created because its namespace is being deleted. No later attempt succeeds. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}
