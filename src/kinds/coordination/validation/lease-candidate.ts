import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { LeaseCandidate } from "../../../api/types/coordination-v1alpha2.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateLeaseStrategy } from "./lease.ts";

export function validateLeaseCandidate({ spec }: LeaseCandidate): FieldError[] {
  const { leaseName = "", emulationVersion: emulated = "", binaryVersion: binary = "", strategy = "" } = spec ?? {};
  return [
    ...(leaseName === "" ? [fieldError.required("spec.leaseName")] : []),
    ...validateVersions(emulated, binary),
    ...(strategy === "" ? [fieldError.required("spec.strategy")] : []),
    ...(strategy === "OldestEmulationVersion" && (parseVersion(emulated)?.every((number) => number === 0n) ?? true)
      ? [fieldError.required("spec.emulationVersion", "must be specified when `strategy` is 'OldestEmulationVersion'")]
      : []),
    ...(strategy === "" ? [] : validateLeaseStrategy(strategy, "spec.strategy")),
  ];
}

export function validateLeaseCandidateUpdate(candidate: LeaseCandidate, old: LeaseCandidate): FieldError[] {
  return validateImmutable(candidate.spec?.leaseName, old.spec?.leaseName, "spec.leaseName");
}

/** A program cannot emulate a later version than its own. */
function validateVersions(emulated: string, binary: string): FieldError[] {
  const errors: FieldError[] = [];
  const [older, newer] = [parseVersion(emulated), parseVersion(binary)];
  const text = "must be a valid semantic version";
  if (emulated !== "" && older === undefined) errors.push(fieldError.invalid("spec.emulationVersion", emulated, text));
  if (binary === "") errors.push(fieldError.required("spec.binaryVersion"));
  else if (newer === undefined) errors.push(fieldError.invalid("spec.binaryVersion", binary, text));
  if (emulated === "" || binary === "" || !isLess(newer ?? zero, older ?? zero)) return errors;
  return [
    ...errors,
    fieldError.invalid("spec.binaryVersion", binary, "must be greater than or equal to `emulationVersion`"),
  ];
}

const zero: readonly bigint[] = [0n, 0n, 0n];

/** Returns major, minor and patch of a semantic version. A pre-release or build suffix is checked but not compared. */
function parseVersion(text: string): readonly bigint[] | undefined {
  const match = /^(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})([-+].*)?$/.exec(text);
  if (match === null) return undefined;
  const suffix = match[4] ?? "";
  const identifiers = suffix === "" ? [] : suffix.slice(1).split(/[.+]/);
  if (!identifiers.every((identifier) => /^[0-9A-Za-z-]+$/.test(identifier))) return undefined;
  return match.slice(1, 4).map((number) => BigInt(number as string));
}

function isLess(a: readonly bigint[], b: readonly bigint[]): boolean {
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && (a[at] as bigint) < (b[at] as bigint);
}
