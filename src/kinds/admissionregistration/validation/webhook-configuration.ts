import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  MatchCondition,
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from "../../../api/types/admissionregistration-v1.ts";
import { validateFullyQualifiedName } from "../../../api/validation/domain-names.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import {
  hasKnownReviewVersion,
  reviewVersions,
  validateReviewVersions,
} from "../../../api/validation/review-versions.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateWebhookClient } from "../../../api/validation/webhook-client.ts";
import { validateAdmissionRule } from "./admission-rule.ts";
import { validateMatchConditions } from "./match-conditions.ts";

export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;
type Webhook = MutatingWebhook | ValidatingWebhook;

const failurePolicies = ["Fail", "Ignore"];
const matchPolicies = ["Equivalent", "Exact"];
const reinvocationPolicies = ["IfNeeded", "Never"];
const harmlessSideEffects = ["None", "NoneOnDryRun"];
const allSideEffects = ["None", "NoneOnDryRun", "Some", "Unknown"];
const requiredText = `must specify one of ${reviewVersions.join(", ")}`;
const timeoutSecondsMax = 30;

/**
 * Mutating and validating webhooks have the same rules. Values that an earlier release accepted may stay. Yields between
 * webhooks and their conditions.
 */
export function* validateWebhookConfiguration(
  { webhooks: hooks = [] }: WebhookConfiguration,
  old?: WebhookConfiguration,
): Generator<void, FieldError[]> {
  const stored: readonly Webhook[] = old?.webhooks ?? [];
  const sideEffects = stored.every(({ sideEffects: effects }) => harmlessSideEffects.includes(effects ?? ""))
    ? harmlessSideEffects
    : allSideEffects;
  const needsKnown = stored.every((hook) => hasKnownReviewVersion(versionsOf(hook)) || versionsOf(hook).length === 0);
  const needsUniqueNames = new Set(stored.map(({ name }) => name)).size === stored.length;
  const names = new Set<string>();
  const conditions = stored.flatMap(({ matchConditions = [] }) => matchConditions);
  const errors: FieldError[] = [];
  for (const [at, hook] of hooks.entries()) {
    if (errors.length >= fieldErrorsMax) break;
    const { name = "" } = hook;
    errors.push(...(yield* validateWebhook(hook, { sideEffects, stored: conditions }, `webhooks[${at}]`)));
    errors.push(
      ...validateReviewVersions(
        versionsOf(hook),
        { requiredText, needsKnown },
        `webhooks[${at}].admissionReviewVersions`,
      ),
    );
    if (needsUniqueNames && names.has(name)) errors.push(fieldError.duplicate(`webhooks[${at}].name`, name));
    if (name !== "") names.add(name);
    yield;
  }
  return errors;
}

function versionsOf({ admissionReviewVersions }: Webhook): string[] {
  return admissionReviewVersions ?? [];
}

interface WebhookRules {
  readonly sideEffects: readonly string[];
  /** The match conditions of the configuration that is replaced: they may use all that this server knows. */
  readonly stored: readonly MatchCondition[];
}

function* validateWebhook(
  hook: Webhook,
  { sideEffects, stored }: WebhookRules,
  field: string,
): Generator<void, FieldError[]> {
  const { timeoutSeconds: timeout, sideEffects: effects } = hook;
  return [
    ...validateFullyQualifiedName(hook.name ?? "", `${field}.name`),
    ...validateEach(hook.rules ?? [], (rule, at) => validateAdmissionRule(rule, `${field}.rules[${at}]`)),
    ...validateGiven(hook.failurePolicy, failurePolicies, `${field}.failurePolicy`),
    ...validateGiven(hook.matchPolicy, matchPolicies, `${field}.matchPolicy`),
    ...(effects === undefined || effects === null
      ? [fieldError.required(`${field}.sideEffects`, `must specify one of ${sideEffects.join(", ")}`)]
      : validateGiven(effects, sideEffects, `${field}.sideEffects`)),
    ...(timeout !== undefined && (timeout < 1 || timeout > timeoutSecondsMax)
      ? [
          fieldError.invalid(
            `${field}.timeoutSeconds`,
            timeout,
            `the timeout value must be between 1 and ${timeoutSecondsMax} seconds`,
          ),
        ]
      : []),
    ...validateLabelSelector(hook.namespaceSelector, `${field}.namespaceSelector`),
    ...validateLabelSelector(hook.objectSelector, `${field}.objectSelector`),
    ...validateGiven(
      "reinvocationPolicy" in hook ? hook.reinvocationPolicy : undefined,
      reinvocationPolicies,
      `${field}.reinvocationPolicy`,
    ),
    ...validateWebhookClient(hook.clientConfig ?? {}, `${field}.clientConfig`),
    ...(yield* validateMatchConditions(hook.matchConditions ?? [], `${field}.matchConditions`, { stored })),
  ];
}

/** Rejects a text, even an empty one, that is not one of the choices. */
function validateGiven(value: string | undefined, choices: readonly string[], field: string): FieldError[] {
  if (value === undefined || choices.includes(value)) return [];
  return [fieldError.notSupported(field, value, choices)];
}
