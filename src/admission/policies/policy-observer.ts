import type { ConditionsTime } from "../expressions/match-conditions.ts";

/** The way in which an expression of a policy failed, as metrics name it. */
export type PolicyErrorType = "no_error" | "compile_error" | "invalid_error" | "out_of_budget";

/** One expression of a policy that counted for the answer. */
export interface PolicyCheck {
  readonly policy: string;
  readonly binding: string;
  readonly errorType: PolicyErrorType;
  readonly seconds: number;
}

/** The effect of an expression of a validating policy. */
export type Enforcement = "allow" | "deny" | "audit" | "warn";

/** Hears what policies do. */
export interface PolicyObserver {
  validated(check: PolicyCheck, enforcement: Enforcement): void;
  mutated(check: PolicyCheck): void;
  conditions(policy: string, operation: string, time: ConditionsTime): void;
}

/** Returns the type of a failure by its message. */
export function policyErrorType(message: string): PolicyErrorType {
  if (message.startsWith("compilation")) return "compile_error";
  if (message.startsWith("validation failed due to running out of cost budget")) return "out_of_budget";
  return "invalid_error";
}
