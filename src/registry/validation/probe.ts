import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { fieldsOf } from "./key-values.ts";
import { portNameProblems } from "./names.ts";
import { textOf, validateChoice, validateNotNegative, validateRange } from "./pod-fields.ts";

const portRange = { min: 1, max: 65_535 } as const;
const handlers = ["exec", "httpGet", "tcpSocket", "grpc"] as const;
const numbers = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

/** A liveness, readiness or startup probe. */
export function validateProbe(
  probe: JsonObject,
  kind: "liveness" | "readiness" | "startup",
  field: string,
): FieldError[] {
  const errors = [...validateHandler(probe, handlers, field)];
  for (const name of numbers) errors.push(...validateNotNegative(probe[name], `${field}.${name}`));
  const grace = probe["terminationGracePeriodSeconds"];
  if (kind === "readiness") {
    if (grace !== undefined && grace !== null) {
      errors.push(
        fieldError.invalid(`${field}.terminationGracePeriodSeconds`, grace, "must not be set for readinessProbes"),
      );
    }
  } else {
    if (typeof grace === "number" && grace <= 0) {
      errors.push(fieldError.invalid(`${field}.terminationGracePeriodSeconds`, grace, "must be greater than 0"));
    }
    if (typeof probe["successThreshold"] === "number" && probe["successThreshold"] > 1) {
      errors.push(fieldError.invalid(`${field}.successThreshold`, probe["successThreshold"], "must be 1"));
    }
  }
  return errors;
}

/** Exactly one of the handlers; also those of lifecycle hooks. */
export function validateHandler(handler: JsonObject, known: readonly string[], field: string): FieldError[] {
  const set = known.filter((name) => handler[name] !== undefined && handler[name] !== null);
  if (set.length === 0) return [fieldError.required(field, "must specify a handler type")];
  return set.flatMap((name, at) =>
    at > 0
      ? [fieldError.forbidden(`${field}.${name}`, "may not specify more than 1 handler type")]
      : validateOneHandler(fieldsOf(handler[name]), name, `${field}.${name}`),
  );
}

function validateOneHandler(handler: JsonObject, name: string, field: string): FieldError[] {
  switch (name) {
    case "exec":
      return Array.isArray(handler["command"]) && handler["command"].length > 0
        ? []
        : [fieldError.required(`${field}.command`)];
    case "httpGet":
      return [
        ...(textOf(handler["path"]) === "" ? [fieldError.required(`${field}.path`)] : []),
        ...validatePort(handler["port"], `${field}.port`),
        ...validateChoice(handler["scheme"], ["HTTP", "HTTPS"], `${field}.scheme`),
      ];
    case "tcpSocket":
      return validatePort(handler["port"], `${field}.port`);
    case "grpc":
      return validateRange(handler["port"] ?? 0, portRange, `${field}.port`);
    default:
      return [];
  }
}

function validatePort(port: JsonValue | undefined, field: string): FieldError[] {
  if (typeof port !== "string") return validateRange(port ?? 0, portRange, field);
  return portNameProblems(port).map((problem) => fieldError.invalid(field, port, problem));
}
