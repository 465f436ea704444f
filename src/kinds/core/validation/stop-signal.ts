import { type FieldError, fieldError } from "../../../api/field-error.ts";

const names =
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX";
const realTime = (first: string, count: number) => Array.from({ length: count }, (_, at) => `${first}${at + 1}`);
const linuxSignals = [...names.split(" "), ...realTime("RTMIN+", 15), ...realTime("RTMAX-", 14)];
const signalsOf: ReadonlyMap<string, readonly string[]> = new Map([
  ["linux", linuxSignals.map((name) => `SIG${name}`).sort()],
  ["windows", ["SIGKILL", "SIGTERM"]],
]);

/** Validates the signal that asks a container to end. Each operating system has its own signals. */
export function validateStopSignal(signal: string | undefined, os: string, field: string): FieldError[] {
  if (signal === undefined) return [];
  if (os === "") return [fieldError.forbidden(field, "may not be set for containers with empty `spec.os.name`")];
  const known = signalsOf.get(os);
  return known === undefined || known.includes(signal) ? [] : [fieldError.notSupported(field, signal, known)];
}
