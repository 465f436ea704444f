import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from "../../../api/types/batch-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { checkIndexes } from "./index-intervals.ts";

const rulesMax = 20;
const exitCodesMax = 255;
const patternsMax = 20;
const indexesBytesMax = 64 * 1024;
const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];

/** Validates the rules about failures of pods: which ones end a job, or an index of it, and which do not count. */
export function validatePodFailurePolicy(spec: JobSpec, field: string): FieldError[] {
  if (spec.podFailurePolicy === undefined) return [];
  const rules = spec.podFailurePolicy.rules ?? [];
  const { containers = [], initContainers = [] } = spec.template.spec ?? {};
  const names = new Set([...(containers ?? []), ...initContainers].map(({ name }) => name));
  return [
    ...(rules.length > rulesMax ? [fieldError.tooMany(`${field}.rules`, rules.length, rulesMax)] : []),
    ...validateEach(rules, (rule, at) => validateFailureRule(rule, spec, names, `${field}.rules[${at}]`)),
  ];
}

/** Validates which indexes have to succeed so that the whole job has succeeded. */
export function validateSuccessPolicy(spec: JobSpec, field: string): FieldError[] {
  const { successPolicy, completions = 0 } = spec;
  if (successPolicy === undefined) return [];
  if (spec.completionMode !== "Indexed") {
    const shown = internalForm(successPolicy, "batch/v1.SuccessPolicy");
    return [fieldError.invalid(field, shown, "requires indexed completion mode")];
  }
  const rules = successPolicy.rules ?? [];
  const errors: FieldError[] = [];
  if (rules.length === 0) {
    const text = "at least one rules must be specified when the successPolicy is specified";
    errors.push(fieldError.required(`${field}.rules`, text));
  }
  if (rules.length > rulesMax) errors.push(fieldError.tooMany(`${field}.rules`, rules.length, rulesMax));
  return [
    ...errors,
    ...validateEach(rules, (rule, at) => validateSuccessRule(rule, completions, `${field}.rules[${at}]`)),
  ];
}

function validateFailureRule(
  { action, onExitCodes: codes, onPodConditions: patterns = [] }: PodFailurePolicyRule,
  spec: JobSpec,
  containers: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const errors = [
    ...validateAction(action, spec.backoffLimitPerIndex !== undefined, `${field}.action`),
    ...(codes === undefined ? [] : validateExitCodes(codes, containers, `${field}.onExitCodes`)),
    ...validatePatterns(patterns, `${field}.onPodConditions`),
  ];
  if (codes !== undefined && patterns.length > 0) {
    const text = "specifying both OnExitCodes and OnPodConditions is not supported";
    errors.push(fieldError.invalidUnshown(field, text));
  }
  if (codes === undefined && patterns.length === 0) {
    errors.push(fieldError.invalidUnshown(field, "specifying one of OnExitCodes and OnPodConditions is required"));
  }
  return errors;
}

function validateAction(action: string, limitsPerIndex: boolean, field: string): FieldError[] {
  if (action === "") return [fieldError.required(field, validValues(actions))];
  if (action === "FailIndex" && !limitsPerIndex) {
    return [fieldError.invalid(field, action, "requires the backoffLimitPerIndex to be set")];
  }
  return actions.includes(action) ? [] : [fieldError.notSupported(field, action, actions)];
}

function validateExitCodes(
  { operator, containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  containers: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const errors = validateMember(operator, operators, `${field}.operator`);
  if (containerName !== undefined && !containers.has(containerName)) {
    const text = "must be one of the container or initContainer names in the pod template";
    errors.push(fieldError.invalid(`${field}.containerName`, containerName, text));
  }
  const codes = values ?? [];
  if (codes.length === 0) errors.push(fieldError.invalid(`${field}.values`, values, "at least one value is required"));
  if (codes.length > exitCodesMax) errors.push(fieldError.tooMany(`${field}.values`, codes.length, exitCodesMax));
  const seen = new Set<number>();
  for (const [at, code] of codes.entries()) {
    if (operator === "In" && code === 0) {
      errors.push(fieldError.invalid(`${field}.values[${at}]`, code, "must not be 0 for the In operator"));
    }
    if (seen.has(code)) errors.push(fieldError.duplicate(`${field}.values[${at}]`, code));
    seen.add(code);
  }
  const ordered = codes.every((code, at) => at === 0 || (codes[at - 1] ?? 0) <= code);
  return ordered ? errors : [...errors, fieldError.invalid(`${field}.values`, codes, "must be ordered")];
}

function validatePatterns(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], field: string): FieldError[] {
  return [
    ...(patterns.length > patternsMax ? [fieldError.tooMany(field, patterns.length, patternsMax)] : []),
    ...validateEach(patterns, ({ type, status }, at) => [
      ...labelKeyErrors(type).map((problem) => fieldError.invalid(`${field}[${at}].type`, type, problem)),
      ...validateMember(status, statuses, `${field}[${at}].status`),
    ]),
  ];
}

function validateMember(value: string, values: readonly string[], field: string): FieldError[] {
  if (value === "") return [fieldError.required(field, validValues(values))];
  return values.includes(value) ? [] : [fieldError.notSupported(field, value, values)];
}

function validValues(values: readonly string[]): string {
  return `valid values: [${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}

function validateSuccessRule(
  { succeededCount: count, succeededIndexes: indexes }: SuccessPolicyRule,
  completions: number,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (count === undefined && indexes === undefined) {
    const text = "at least one of succeededCount or succeededIndexes must be specified";
    errors.push(fieldError.required(field, text));
  }
  const text = indexes ?? "";
  if (Buffer.byteLength(text) > indexesBytesMax) {
    errors.push(fieldError.tooLong(`${field}.succeededIndexes`, indexesBytesMax));
  }
  const checked = checkIndexes(text, completions);
  if (checked.kind === "invalid") {
    const problem = `error parsing succeededIndexes: ${checked.problem}`;
    errors.push(fieldError.invalid(`${field}.succeededIndexes`, text, problem));
  }
  if (count === undefined) return errors;
  const countField = `${field}.succeededCount`;
  errors.push(...validateNotNegative(count, countField));
  const limits = [{ most: completions, what: "the number of specified completions" }];
  if (indexes !== undefined) {
    const most = checked.kind === "valid" ? checked.count : 0;
    limits.push({ most, what: "the number of indexes in the specified succeededIndexes field" });
  }
  for (const { most, what } of limits) {
    if (count <= most) continue;
    errors.push(fieldError.invalid(countField, count, `must be less than or equal to ${most} (${what})`));
  }
  return errors;
}
