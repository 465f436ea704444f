import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { isPresent, numberOf, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { httpHeaderProblems } from "../../../api/validation/names.ts";
import { validatePortNumber, validatePortNumberOrName } from "../../../api/validation/port.ts";
import { validateStopSignal } from "./stop-signal.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** What a probe may do, in the order in which upstream looks at it. */
const probeHandlers = ["exec", "httpGet", "tcpSocket", "grpc"];
const lifecycleHandlers = ["exec", "httpGet", "tcpSocket", "sleep"];
const schemes = ["HTTP", "HTTPS"];
const numbers = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

export type ProbeKind = "livenessProbe" | "readinessProbe" | "startupProbe";

/** A liveness, readiness or startup probe; nothing to check when it is absent. */
export function validateProbe(value: JsonValue | undefined, kind: ProbeKind, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const probe = objectOf(value);
  const grace = probe["terminationGracePeriodSeconds"];
  const graceField = `${field}.terminationGracePeriodSeconds`;
  const errors = [
    ...validateHandler(probe, probeHandlers, { field, gracePeriodSeconds: undefined }),
    ...numbers.flatMap((name) => validateNotNegative(probe[name], `${field}.${name}`)),
  ];
  if (isPresent(grace) && numberOf(grace) <= 0) {
    errors.push(fieldError.invalid(graceField, grace, "must be greater than 0"));
  }
  if (kind === "readinessProbe") {
    if (isPresent(grace)) errors.push(fieldError.invalid(graceField, grace, "must not be set for readinessProbes"));
  } else if (numberOf(probe["successThreshold"]) !== 1) {
    errors.push(fieldError.invalid(`${field}.successThreshold`, probe["successThreshold"] ?? 0, "must be 1"));
  }
  return errors;
}

/** What runs after the start and before the end of a container, and the signal that ends it. */
export function validateLifecycle(
  value: JsonValue | undefined,
  { gracePeriodSeconds, os }: { readonly gracePeriodSeconds: number | undefined; readonly os: string },
  field: string,
): FieldError[] {
  if (!isPresent(value)) return [];
  const lifecycle = objectOf(value);
  const hooks = ["postStart", "preStop"].filter((name) => isPresent(lifecycle[name]));
  return [
    ...hooks.flatMap((name) =>
      validateHandler(objectOf(lifecycle[name]), lifecycleHandlers, { field: `${field}.${name}`, gracePeriodSeconds }),
    ),
    ...validateStopSignal(lifecycle["stopSignal"], os, `${field}.stopSignal`),
  ];
}

interface HandlerContext {
  readonly field: string;
  readonly gracePeriodSeconds: number | undefined;
}

/** Exactly one of the handlers. */
function validateHandler(handler: JsonObject, known: readonly string[], context: HandlerContext): FieldError[] {
  const { field } = context;
  const set = known.filter((name) => isPresent(handler[name]));
  if (set.length === 0) return [fieldError.required(field, "must specify a handler type")];
  return set.flatMap((name, at) =>
    at > 0
      ? [fieldError.forbidden(`${field}.${name}`, "may not specify more than 1 handler type")]
      : validateAction(name, objectOf(handler[name]), { ...context, field: `${field}.${name}` }),
  );
}

function validateAction(name: string, action: JsonObject, { field, gracePeriodSeconds }: HandlerContext): FieldError[] {
  switch (name) {
    case "exec":
      return Array.isArray(action["command"]) && action["command"].length > 0
        ? []
        : [fieldError.required(`${field}.command`)];
    case "httpGet":
      return validateHttpGet(action, field);
    case "tcpSocket":
      return validatePortNumberOrName(action["port"], `${field}.port`);
    case "grpc":
      return validatePortNumber(action["port"], `${field}.port`);
    default:
      return validateSleep(action["seconds"], gracePeriodSeconds, field);
  }
}

function validateHttpGet(action: JsonObject, field: string): FieldError[] {
  const scheme = textOf(action["scheme"]);
  return [
    ...(textOf(action["path"]) === "" ? [fieldError.required(`${field}.path`)] : []),
    ...validatePortNumberOrName(action["port"], `${field}.port`),
    ...(schemes.includes(scheme) ? [] : [fieldError.notSupported(`${field}.scheme`, scheme, schemes)]),
    ...validateEach(objectsOf(action["httpHeaders"]), (header) =>
      httpHeaderProblems(textOf(header["name"])).map((problem) =>
        fieldError.invalid(`${field}.httpHeaders`, textOf(header["name"]), problem),
      ),
    ),
  ];
}

/** A pause that outlasts the grace period would never end. */
function validateSleep(seconds: JsonValue | undefined, grace: number | undefined, field: string): FieldError[] {
  const pause = numberOf(seconds);
  if (grace === undefined || (pause >= 0 && pause <= grace)) return [];
  const text = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [fieldError.invalid(field, seconds ?? 0, text)];
}
