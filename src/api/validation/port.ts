import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
import { portNameProblems } from "./names.ts";

const portMin = 1;
const portMax = 65_535;

/** Returns the problems of a port number, in upstream's words. */
export function portNumberProblems(port: number): string[] {
  return port >= portMin && port <= portMax ? [] : [`must be between ${portMin} and ${portMax}, inclusive`];
}

/** Validates a port number; an absent one counts as 0. */
export function validatePortNumber(port: JsonValue | undefined, field: string): FieldError[] {
  const number = typeof port === "number" ? port : 0;
  return portNumberProblems(number).map((problem) => fieldError.invalid(field, number, problem));
}

/** Validates a port number, or the name of a container's port. */
export function validatePortNumberOrName(port: JsonValue | undefined, field: string): FieldError[] {
  if (typeof port !== "string") return validatePortNumber(port, field);
  return portNameProblems(port).map((problem) => fieldError.invalid(field, port, problem));
}
