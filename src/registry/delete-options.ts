import { type FieldError, fieldError } from "../api/field-error.ts";
import type { JsonObject } from "../api/json.ts";
import { status } from "../api/status.ts";
import type { DeleteOptions } from "./strategy.ts";

export const ignoreReadErrorsOption = "ignoreStoreReadErrorWithClusterBreakingPotential";
/** Options that apply to readable objects only. */
const optionsOfReadable = ["dryRun", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions"];

/** Options when the client sends none. */
export const plainDeletion: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
  dryRun: false,
};

const policies = ["Foreground", "Background", "Orphan"];

/**
 * Validates a meta/v1 DeleteOptions.
 * @throws StatusError 422 (DeleteOptions)
 */
export function deleteOptionsOf(values: JsonObject): DeleteOptions {
  const errors = optionErrors(values);
  if (errors.length > 0) throw status.invalidOptions("DeleteOptions", errors);
  const preconditions = (values["preconditions"] ?? {}) as { uid?: string; resourceVersion?: string };
  return {
    gracePeriodSeconds: secondsOf(values["gracePeriodSeconds"] as number | bigint | undefined),
    propagationPolicy: values["propagationPolicy"] as DeleteOptions["propagationPolicy"],
    orphanDependents: values["orphanDependents"] as boolean | undefined,
    preconditions: { uid: preconditions.uid, resourceVersion: preconditions.resourceVersion },
    dryRun: ((values["dryRun"] ?? []) as string[]).includes("All"),
    ignoreReadErrors: values[ignoreReadErrorsOption] === true,
  };
}

/** Returns the meta/v1 DeleteOptions with these options. */
export function deleteOptionsObject(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, dryRun } = options;
  const { uid, resourceVersion } = preconditions;
  const given = uid !== undefined || resourceVersion !== undefined;
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(given
      ? {
          preconditions: {
            ...(uid === undefined ? {} : { uid }),
            ...(resourceVersion === undefined ? {} : { resourceVersion }),
          },
        }
      : {}),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  };
}

/** Converts seconds to a number. Beyond the exact integers, rounding does not matter. */
function secondsOf(value: number | bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** Validates `dryRun`. `?dryRun` without a value is accepted and means a real request. */
export function dryRunErrors(values: readonly string[]): FieldError[] {
  const isKnown = values.every((value) => value === "All" || value === "");
  return isKnown ? [] : [fieldError.notSupported("dryRun", [...values], ["All"])];
}

function optionErrors(values: JsonObject): FieldError[] {
  const errors = dryRunErrors((values["dryRun"] ?? []) as string[]);
  const policy = values["propagationPolicy"];
  if (policy !== undefined && values["orphanDependents"] !== undefined) {
    const text = "orphanDependents and deletionPropagation cannot be both set";
    errors.push(fieldError.invalid("propagationPolicy", policy, text));
  }
  if (policy !== undefined && !policies.includes(policy as string)) {
    errors.push(fieldError.notSupported("propagationPolicy", policy, [...policies, "nil"]));
  }
  if (values[ignoreReadErrorsOption] === true) {
    for (const name of optionsOfReadable) {
      if (values[name] === undefined || (Array.isArray(values[name]) && values[name].length === 0)) continue;
      errors.push(fieldError.invalid(ignoreReadErrorsOption, true, `cannot be set together with .${name}`));
    }
  }
  return errors;
}
