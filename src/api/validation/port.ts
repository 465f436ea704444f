import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
import { portNameProblems } from "./names.ts";

const portMin = 1;
const portMax = 65_535;

/** What is wrong with a port number, in upstream's words; empty when it is valid. */
export function portNumberProblems(port: number): string[] {
  return port >= portMin && port <= portMax ? [] : [`must be between ${portMin} and ${portMax}, inclusive`];
}

/** A port number; an absent one counts as 0. */
export function validatePortNumber(port: JsonValue | undefined, field: string): FieldError[] {
  const number = typeof port === "number" ? port : 0;
  return portNumberProblems(number).map((problem) => fieldError.invalid(field, number, problem));
}

/** A port number, or the name of a container's port. */
export function validatePortNumberOrName(port: JsonValue | undefined, field: string): FieldError[] {
  if (typeof port !== "string") return validatePortNumber(port, field);
  return portNameProblems(port).map((problem) => fieldError.invalid(field, port, problem));
}
