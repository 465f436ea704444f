import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from "../../../api/types/flowcontrol-v1.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { mandatorySpec, priorityLevels } from "../flow-control-objects.ts";

const exemptName = "exempt";
const types = ["Exempt", "Limited"];
const responseTypes = ["Queue", "Reject"];
const queuesMax = 10_000_000;
/** Bits of the 64-bit hash by which shuffle sharding deals queues. */
const entropyBitsMax = 60;

export function validatePriorityLevel(level: PriorityLevelConfiguration): FieldError[] {
  const spec = level.spec ?? { type: "" };
  const { type = "" } = spec;
  const isExempt = level.metadata.name === exemptName;
  const errors =
    isExempt === (type === "Exempt")
      ? []
      : [fieldError.invalid("spec.type", type, "type must be 'Exempt' if and only if name is 'exempt'")];
  if (!types.includes(type)) return [...errors, fieldError.notSupported("spec.type", type, types)];
  const typed = type === "Exempt" ? validateExempt(spec) : validateLimitedLevel(spec);
  return [...errors, ...typed, ...validateMandatory(level)];
}

/** Levels that the server cannot do without never change, except for the shares of the exempt one. */
function validateMandatory({
  metadata: { name },
  spec: given = { type: "" },
}: PriorityLevelConfiguration): FieldError[] {
  const known = mandatorySpec(priorityLevels, name);
  if (known === undefined) return [];
  const isExempt = name === exemptName;
  if (equalJson(isExempt ? withoutExempt(known) : known, isExempt ? withoutExempt(given) : given)) return [];
  const except = isExempt ? " except the 'spec.exempt' field" : "";
  const shown = internalForm(given, "flowcontrol/v1.PriorityLevelConfigurationSpec");
  return [fieldError.invalid("spec", shown, `spec of '${name}'${except} must equal the fixed value`)];
}

function withoutExempt({ exempt: _exempt, ...rest }: JsonObject | PriorityLevelConfigurationSpec): JsonObject {
  return rest;
}

function validateExempt({ limited, exempt = {} }: PriorityLevelConfigurationSpec): FieldError[] {
  const errors =
    limited === undefined ? [] : [fieldError.forbidden("spec.limited", "must be nil if the type is not Limited")];
  return [...errors, ...validateShares(exempt, "spec.exempt"), ...validateLendable(exempt, "spec.exempt")];
}

function validateLimitedLevel({ limited, exempt }: PriorityLevelConfigurationSpec): FieldError[] {
  const errors =
    exempt === undefined ? [] : [fieldError.forbidden("spec.exempt", "must be nil if the type is Limited")];
  if (limited === undefined) {
    return [...errors, fieldError.required("spec.limited", "must not be empty when type is Limited")];
  }
  return [...errors, ...validateLimited(limited, "spec.limited")];
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, field: string): FieldError[] {
  const { borrowingLimitPercent: borrowing, limitResponse } = limited;
  return [
    ...validateShares(limited, field),
    ...validateResponse(limitResponse ?? { type: "" }, `${field}.limitResponse`),
    ...validateLendable(limited, field),
    ...(borrowing !== undefined && borrowing < 0
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

type Level = ExemptPriorityLevelConfiguration | LimitedPriorityLevelConfiguration;

/** Checks the shares of the server's concurrency. */
function validateShares({ nominalConcurrencyShares: shares }: Level, field: string): FieldError[] {
  if ((shares ?? 0) >= 0) return [];
  return [fieldError.invalid(`${field}.nominalConcurrencyShares`, shares, "must be a non-negative integer")];
}

/** Checks the part of the shares that other levels may borrow. */
function validateLendable({ lendablePercent: percent = 0 }: Level, field: string): FieldError[] {
  if (percent >= 0 && percent <= 100) return [];
  return [fieldError.invalid(`${field}.lendablePercent`, percent, "must be between 0 and 100, inclusive")];
}

function validateResponse({ type = "", queuing }: LimitResponse, field: string): FieldError[] {
  switch (type) {
    case "Reject":
      if (queuing === undefined) return [];
      return [fieldError.forbidden(`${field}.queuing`, "must be nil if limited.limitResponse.type is not Limited")];
    case "Queue":
      if (queuing !== undefined) return validateQueuing(queuing, `${field}.queuing`);
      return [fieldError.required(`${field}.queuing`, "must not be empty if limited.limitResponse.type is Limited")];
    default:
      return [fieldError.notSupported(`${field}.type`, type, responseTypes)];
  }
}

function validateQueuing(
  { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration,
  field: string,
): FieldError[] {
  return [
    ...validateAboveZero(queueLengthLimit, `${field}.queueLengthLimit`),
    ...validateAboveZero(queues, `${field}.queues`),
    ...(queues > queuesMax
      ? [fieldError.invalid(`${field}.queues`, queues, `must not be greater than ${queuesMax}`)]
      : []),
    ...validateAboveZero(handSize, `${field}.handSize`),
    ...(handSize > 0 ? validateHandSize(queues, handSize, `${field}.handSize`) : []),
  ];
}

function validateAboveZero(value: number, field: string): FieldError[] {
  return value > 0 ? [] : [fieldError.invalid(field, value, "must be positive")];
}

function validateHandSize(queues: number, handSize: number, field: string): FieldError[] {
  if (handSize > queues) return [fieldError.invalid(field, handSize, `should not be greater than queues (${queues})`)];
  const text = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${entropyBitsMax}`;
  return requiredEntropyBits(queues, handSize) > entropyBitsMax ? [fieldError.invalid(field, handSize, text)] : [];
}

/** Returns the bits that a choice of `handSize` of `deckSize` queues takes. */
function requiredEntropyBits(deckSize: number, handSize: number): number {
  return Math.ceil(Math.log2(deckSize) * handSize);
}
