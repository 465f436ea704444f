import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from "../../../api/types/core-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { httpHeaderProblems } from "../../../api/validation/names.ts";
import { validatePortNumber, validatePortNumberOrName } from "../../../api/validation/port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateStopSignal } from "./stop-signal.ts";

/** The actions of probes and hooks. */
type Handlers = Pick<Probe, "grpc"> & LifecycleHandler;
type HandlerName = keyof Handlers;

/** Handlers in the order in which upstream checks them. */
const probeHandlers: readonly HandlerName[] = ["exec", "httpGet", "tcpSocket", "grpc"];
const lifecycleHandlers: readonly HandlerName[] = ["exec", "httpGet", "tcpSocket", "sleep"];
const schemes = ["HTTP", "HTTPS"];
const numbers = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

export type ProbeKind = "livenessProbe" | "readinessProbe" | "startupProbe";

/** Validates a liveness, readiness or startup probe. An absent one is valid. */
export function validateProbe(probe: Probe | undefined, kind: ProbeKind, field: string): FieldError[] {
  if (probe === undefined) return [];
  const { terminationGracePeriodSeconds: grace, successThreshold = 0 } = probe;
  const graceField = `${field}.terminationGracePeriodSeconds`;
  const errors = [
    ...validateHandler(probe, probeHandlers, { field, gracePeriodSeconds: undefined }),
    ...numbers.flatMap((name) => validateNotNegative(probe[name], `${field}.${name}`)),
  ];
  if (grace !== undefined && grace <= 0) {
    errors.push(fieldError.invalid(graceField, grace, "must be greater than 0"));
  }
  if (kind === "readinessProbe") {
    if (grace !== undefined) {
      errors.push(fieldError.invalid(graceField, grace, "must not be set for readinessProbes"));
    }
  } else if (successThreshold !== 1) {
    errors.push(fieldError.invalid(`${field}.successThreshold`, successThreshold, "must be 1"));
  }
  return errors;
}

/** Validates the hooks of a container's start and stop, and its stop signal. */
export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  { gracePeriodSeconds, os }: { readonly gracePeriodSeconds: number | undefined; readonly os: string },
  field: string,
): FieldError[] {
  if (lifecycle === undefined) return [];
  const validateHook = (name: "postStart" | "preStop") => {
    const hook = lifecycle[name];
    const context = { field: `${field}.${name}`, gracePeriodSeconds };
    return hook === undefined ? [] : validateHandler(hook, lifecycleHandlers, context);
  };
  return [
    ...validateHook("postStart"),
    ...validateHook("preStop"),
    ...validateStopSignal(lifecycle.stopSignal, os, `${field}.stopSignal`),
  ];
}

interface HandlerContext {
  readonly field: string;
  readonly gracePeriodSeconds: number | undefined;
}

/** Validates the handler, of which there is exactly one. */
function validateHandler(handlers: Handlers, known: readonly HandlerName[], context: HandlerContext): FieldError[] {
  const { field } = context;
  const set = known.filter((name) => handlers[name] !== undefined);
  if (set.length === 0) return [fieldError.required(field, "must specify a handler type")];
  return set.flatMap((name, at) =>
    at > 0
      ? [fieldError.forbidden(`${field}.${name}`, "may not specify more than 1 handler type")]
      : validateAction({ [name]: handlers[name] }, { ...context, field: `${field}.${name}` }),
  );
}

/** @param handlers the checked handler under its name */
function validateAction(
  { exec, httpGet, tcpSocket, grpc, sleep }: Handlers,
  { field, gracePeriodSeconds }: HandlerContext,
): FieldError[] {
  if (exec !== undefined) return (exec.command ?? []).length > 0 ? [] : [fieldError.required(`${field}.command`)];
  if (httpGet !== undefined) return validateHttpGet(httpGet, field);
  if (tcpSocket !== undefined) return validatePortNumberOrName(tcpSocket.port, `${field}.port`);
  if (grpc !== undefined) return validatePortNumber(grpc.port, `${field}.port`);
  return sleep === undefined ? [] : validateSleep(sleep.seconds, gracePeriodSeconds, field);
}

function validateHttpGet(
  { path = "", port, scheme = "", httpHeaders = [] }: HTTPGetAction,
  field: string,
): FieldError[] {
  return [
    ...(path === "" ? [fieldError.required(`${field}.path`)] : []),
    ...validatePortNumberOrName(port, `${field}.port`),
    ...(schemes.includes(scheme) ? [] : [fieldError.notSupported(`${field}.scheme`, scheme, schemes)]),
    ...validateEach(httpHeaders, ({ name }) =>
      httpHeaderProblems(name).map((problem) => fieldError.invalid(`${field}.httpHeaders`, name, problem)),
    ),
  ];
}

/** Rejects a pause that is longer than the grace period, because it would never end. */
function validateSleep(seconds: number | bigint, grace: number | undefined, field: string): FieldError[] {
  if (grace === undefined || (seconds >= 0 && seconds <= grace)) return [];
  const text = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [fieldError.invalid(field, seconds, text)];
}
