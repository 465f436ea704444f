import { type FieldError, fieldError } from "../../api/field-error.ts";
import { labelKeyErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "./key-values.ts";

export function validateLease(lease: KubeObject): FieldError[] {
  const spec = fieldsOf(lease["spec"]);
  const errors: FieldError[] = [];
  const duration = spec["leaseDurationSeconds"];
  if (typeof duration === "number" && duration <= 0) {
    errors.push(fieldError.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  const transitions = spec["leaseTransitions"];
  if (typeof transitions === "number" && transitions < 0) {
    errors.push(fieldError.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  const strategy = spec["strategy"];
  if (typeof strategy === "string" && strategy !== "") errors.push(...validateStrategy(strategy));
  if (typeof spec["preferredHolder"] === "string" && spec["preferredHolder"] !== "" && (strategy ?? "") === "") {
    errors.push(fieldError.forbidden("spec.preferredHolder", "may only be specified when `strategy` is defined"));
  }
  return errors;
}

function validateStrategy(strategy: string): FieldError[] {
  if (strategy === "OldestEmulationVersion") return [];
  if (!strategy.includes("/")) return [fieldError.invalid("spec.strategy", strategy, "must be a domain-prefixed name")];
  return labelKeyErrors(strategy).map((problem) => fieldError.invalid("spec.strategy", strategy, problem));
}
