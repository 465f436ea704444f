import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { mandatorySpec, priorityLevels } from "../flow-control-objects.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { isPresent, numberOf, objectOf, textOf } from "../../../api/json-reading.ts";

const exemptName = "exempt";
const types = ["Exempt", "Limited"];
const responseTypes = ["Queue", "Reject"];
const queuesMax = 10_000_000;
/** Shuffle sharding deals queues by the bits of one 64-bit hash, of which it uses these. */
const entropyBitsMax = 60;

export function validatePriorityLevel(level: KubeObject): FieldError[] {
  const spec = objectOf(level["spec"]);
  const type = textOf(spec["type"]);
  const isExempt = level.metadata.name === exemptName;
  const errors =
    isExempt === (type === "Exempt")
      ? []
      : [fieldError.invalid("spec.type", type, "type must be 'Exempt' if and only if name is 'exempt'")];
  if (!types.includes(type)) return [...errors, fieldError.notSupported("spec.type", type, types)];
  const typed = type === "Exempt" ? validateExempt(spec) : validateLimitedLevel(spec);
  return [...errors, ...typed, ...validateMandatory(level)];
}

/** Of the levels that the server cannot do without, only the shares of the exempt one are free to choose. */
function validateMandatory({ metadata: { name }, spec }: KubeObject): FieldError[] {
  const known = mandatorySpec(priorityLevels, name);
  if (known === undefined) return [];
  const isExempt = name === exemptName;
  const given = objectOf(spec);
  if (equalJson(isExempt ? withoutExempt(known) : known, isExempt ? withoutExempt(given) : given)) return [];
  const except = isExempt ? " except the 'spec.exempt' field" : "";
  const shown = internalForm(given, "flowcontrol/v1.PriorityLevelConfigurationSpec");
  return [fieldError.invalid("spec", shown, `spec of '${name}'${except} must equal the fixed value`)];
}

function withoutExempt({ exempt: _exempt, ...rest }: JsonObject): JsonObject {
  return rest;
}

function validateExempt({ limited, exempt }: JsonObject): FieldError[] {
  const errors = isPresent(limited)
    ? [fieldError.forbidden("spec.limited", "must be nil if the type is not Limited")]
    : [];
  const own = objectOf(exempt);
  return [...errors, ...validateShares(own, "spec.exempt"), ...validateLendable(own, "spec.exempt")];
}

function validateLimitedLevel({ limited, exempt }: JsonObject): FieldError[] {
  const errors = isPresent(exempt) ? [fieldError.forbidden("spec.exempt", "must be nil if the type is Limited")] : [];
  if (!isPresent(limited)) {
    return [...errors, fieldError.required("spec.limited", "must not be empty when type is Limited")];
  }
  return [...errors, ...validateLimited(objectOf(limited), "spec.limited")];
}

function validateLimited(limited: JsonObject, field: string): FieldError[] {
  const borrowing = limited["borrowingLimitPercent"];
  return [
    ...validateShares(limited, field),
    ...validateResponse(objectOf(limited["limitResponse"]), `${field}.limitResponse`),
    ...validateLendable(limited, field),
    ...(isPresent(borrowing) && numberOf(borrowing) < 0
      ? [
          fieldError.invalid(
            `${field}.borrowingLimitPercent`,
            borrowing,
            "if specified, must be a non-negative integer",
          ),
        ]
      : []),
  ];
}

/** Shares are of the server's concurrency. */
function validateShares({ nominalConcurrencyShares: shares }: JsonObject, field: string): FieldError[] {
  if (numberOf(shares) >= 0) return [];
  return [fieldError.invalid(`${field}.nominalConcurrencyShares`, shares, "must be a non-negative integer")];
}

/** What is not used can be lent to other levels. */
function validateLendable({ lendablePercent: percent }: JsonObject, field: string): FieldError[] {
  if (numberOf(percent) >= 0 && numberOf(percent) <= 100) return [];
  return [fieldError.invalid(`${field}.lendablePercent`, percent, "must be between 0 and 100, inclusive")];
}

function validateResponse({ type, queuing }: JsonObject, field: string): FieldError[] {
  switch (type) {
    case "Reject":
      if (!isPresent(queuing)) return [];
      return [fieldError.forbidden(`${field}.queuing`, "must be nil if limited.limitResponse.type is not Limited")];
    case "Queue":
      if (isPresent(queuing)) return validateQueuing(objectOf(queuing), `${field}.queuing`);
      return [fieldError.required(`${field}.queuing`, "must not be empty if limited.limitResponse.type is Limited")];
    default:
      return [fieldError.notSupported(`${field}.type`, textOf(type), responseTypes)];
  }
}

function validateQueuing(queuing: JsonObject, field: string): FieldError[] {
  const [queues, handSize] = [numberOf(queuing["queues"]), numberOf(queuing["handSize"])];
  return [
    ...validateAboveZero(queuing["queueLengthLimit"], `${field}.queueLengthLimit`),
    ...validateAboveZero(queuing["queues"], `${field}.queues`),
    ...(queues > queuesMax
      ? [fieldError.invalid(`${field}.queues`, queues, `must not be greater than ${queuesMax}`)]
      : []),
    ...validateAboveZero(queuing["handSize"], `${field}.handSize`),
    ...(handSize > 0 ? validateHandSize(queues, handSize, `${field}.handSize`) : []),
  ];
}

function validateAboveZero(value: JsonValue | undefined, field: string): FieldError[] {
  return numberOf(value) > 0 ? [] : [fieldError.invalid(field, numberOf(value), "must be positive")];
}

function validateHandSize(queues: number, handSize: number, field: string): FieldError[] {
  if (handSize > queues) return [fieldError.invalid(field, handSize, `should not be greater than queues (${queues})`)];
  const text = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${entropyBitsMax}`;
  return requiredEntropyBits(queues, handSize) > entropyBitsMax ? [fieldError.invalid(field, handSize, text)] : [];
}

/** Bits that a choice of `handSize` of `deckSize` queues takes. */
function requiredEntropyBits(deckSize: number, handSize: number): number {
  return Math.ceil(Math.log2(deckSize) * handSize);
}
