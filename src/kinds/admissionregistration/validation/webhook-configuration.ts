import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateAdmissionRule } from "./admission-rule.ts";
import { validateFullyQualifiedName } from "../../../api/validation/domain-names.ts";
import { isPresent, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { validateMatchConditions } from "./match-conditions.ts";
import {
  hasKnownReviewVersion,
  reviewVersions,
  validateReviewVersions,
} from "../../../api/validation/review-versions.ts";
import { validateWebhookClient } from "../../../api/validation/webhook-client.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const failurePolicies = ["Fail", "Ignore"];
const matchPolicies = ["Equivalent", "Exact"];
const reinvocationPolicies = ["IfNeeded", "Never"];
const harmlessSideEffects = ["None", "NoneOnDryRun"];
const allSideEffects = ["None", "NoneOnDryRun", "Some", "Unknown"];
const requiredText = `must specify one of ${reviewVersions.join(", ")}`;
const timeoutSecondsMax = 30;

/** Of both kinds. What an earlier release has let in may stay, and nothing of its like can be added. */
export function validateWebhookConfiguration(configuration: KubeObject, old?: KubeObject): FieldError[] {
  const hooks = hooksOf(configuration);
  const stored = old === undefined ? [] : hooksOf(old);
  const sideEffects = stored.every(({ sideEffects: effects }) => harmlessSideEffects.includes(textOf(effects)))
    ? harmlessSideEffects
    : allSideEffects;
  const needsKnown = stored.every((hook) => hasKnownReviewVersion(versionsOf(hook)) || versionsOf(hook).length === 0);
  const needsUniqueNames = new Set(stored.map(({ name }) => textOf(name))).size === stored.length;
  const names = new Set<string>();
  const conditions = stored.flatMap((hook) => objectsOf(hook["matchConditions"]));
  const errors: FieldError[] = [];
  for (const [at, hook] of hooks.entries()) {
    if (errors.length >= fieldErrorsMax) break;
    const name = textOf(hook["name"]);
    errors.push(...validateWebhook(hook, { sideEffects, stored: conditions }, `webhooks[${at}]`));
    errors.push(
      ...validateReviewVersions(
        versionsOf(hook),
        { requiredText, needsKnown },
        `webhooks[${at}].admissionReviewVersions`,
      ),
    );
    if (needsUniqueNames && names.has(name)) errors.push(fieldError.duplicate(`webhooks[${at}].name`, name));
    if (name !== "") names.add(name);
  }
  return errors;
}

function hooksOf(configuration: KubeObject): JsonObject[] {
  return objectsOf(configuration["webhooks"] as JsonValue | undefined);
}

function versionsOf(hook: JsonObject): string[] {
  return textsOf(hook["admissionReviewVersions"]);
}

interface WebhookRules {
  readonly sideEffects: readonly string[];
  /** The match conditions of the configuration that is replaced: they may use all that this server knows. */
  readonly stored: JsonObject[];
}

function validateWebhook(hook: JsonObject, { sideEffects, stored }: WebhookRules, field: string): FieldError[] {
  const timeout = hook["timeoutSeconds"];
  const effects = hook["sideEffects"];
  return [
    ...validateFullyQualifiedName(textOf(hook["name"]), `${field}.name`),
    ...validateEach(objectsOf(hook["rules"]), (rule, at) => validateAdmissionRule(rule, `${field}.rules[${at}]`)),
    ...validateGiven(hook["failurePolicy"], failurePolicies, `${field}.failurePolicy`),
    ...validateGiven(hook["matchPolicy"], matchPolicies, `${field}.matchPolicy`),
    ...(isPresent(effects)
      ? validateGiven(effects, sideEffects, `${field}.sideEffects`)
      : [fieldError.required(`${field}.sideEffects`, `must specify one of ${sideEffects.join(", ")}`)]),
    ...(isPresent(timeout) && (numberOf(timeout) < 1 || numberOf(timeout) > timeoutSecondsMax)
      ? [
          fieldError.invalid(
            `${field}.timeoutSeconds`,
            timeout,
            `the timeout value must be between 1 and ${timeoutSecondsMax} seconds`,
          ),
        ]
      : []),
    ...validateLabelSelector(hook["namespaceSelector"], `${field}.namespaceSelector`),
    ...validateLabelSelector(hook["objectSelector"], `${field}.objectSelector`),
    ...validateGiven(hook["reinvocationPolicy"], reinvocationPolicies, `${field}.reinvocationPolicy`),
    ...validateWebhookClient(objectOf(hook["clientConfig"]), `${field}.clientConfig`),
    ...validateMatchConditions(hook["matchConditions"], `${field}.matchConditions`, { stored }),
  ];
}

/** A text that is given, be it empty, has to be one of the choices. */
function validateGiven(value: JsonValue | undefined, choices: readonly string[], field: string): FieldError[] {
  if (!isPresent(value) || choices.includes(textOf(value))) return [];
  return [fieldError.notSupported(field, value, choices)];
}
