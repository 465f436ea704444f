import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonObject } from "../../api/json.ts";
import { rootPath } from "../../api/structural/findings.ts";
import type { StructuralSchema } from "../../api/structural/structural-schema.ts";
import type { CustomResourceSubresourceScale } from "../../api/types/apiextensions-v1.ts";
import {
  makeRuleValidator,
  type RuleSchema,
  type RuleValidator,
  runRules,
  storedEnvironment,
  toFieldError,
} from "../../cel/index.ts";
import { validateScaleSpec, validateScaleStatus } from "./scale-values.ts";

/** Errors that leave values of which rules could make no sense. */
const blockingReasons: ReadonlySet<FieldError["reason"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
] as const);
const blockedText =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/** The facts of one version of a custom kind that its objects are validated by. */
export interface InstanceKind {
  readonly kind: string;
  /** `<group>/<version>`. */
  readonly apiVersion: string;
  readonly schema: StructuralSchema;
  /** Undefined without the scale subresource. */
  readonly scale?: CustomResourceSubresourceScale | undefined;
}

export interface InstanceProblems {
  readonly errors: readonly FieldError[];
  /** Failures of rules at values that the update has not changed. */
  readonly warnings: readonly string[];
}

export interface InstanceWrite {
  readonly object: JsonObject;
  /** The stored object of an update. */
  readonly old?: JsonObject | undefined;
  /** Errors of the metadata, which upstream finds before all others; they are not repeated. */
  readonly metadataErrors?: readonly FieldError[];
}

/** Validates objects of one version of a custom kind. Rules are compiled when they first run. */
export class InstanceValidator {
  readonly #kind: InstanceKind;
  #rules: { readonly validator: RuleValidator | undefined } | undefined;

  constructor(kind: InstanceKind) {
    this.#kind = kind;
  }

  /** Validates a new object or an update. Yields between its parts and between rules, so that others get their turn. */
  *validate({ object, old, metadataErrors = [] }: InstanceWrite): Generator<void, InstanceProblems> {
    const typeErrors = this.typeErrors(object);
    if (typeErrors.length > 0) return { errors: typeErrors, warnings: [] };
    const { schema, scale } = this.#kind;
    const errors = yield* schema.validate(object, old);
    yield;
    if (scale !== undefined) errors.push(...validateScaleSpec(object, scale), ...validateScaleStatus(object, scale));
    errors.push(...(yield* schema.validateEmbedded(object)));
    yield;
    errors.push(...(yield* schema.validateListTypes(object, old)));
    yield;
    return yield* this.#withRules(errors, metadataErrors, object, old);
  }

  /** Validates a write of the status: of all other fields the old value is there. */
  *validateStatus({
    object,
    old,
    metadataErrors = [],
  }: InstanceWrite & { readonly old: JsonObject }): Generator<void, InstanceProblems> {
    const typeErrors = this.typeErrors(object);
    if (typeErrors.length > 0) return { errors: typeErrors, warnings: [] };
    const { schema, scale } = this.#kind;
    const { status } = object;
    const errors = [
      ...(status === undefined ? [] : yield* schema.validateStatus(status, old["status"])),
      ...(scale === undefined ? [] : validateScaleStatus(object, scale)),
      ...(yield* schema.validateListTypes(object, old)),
    ];
    return yield* this.#withRules(errors, metadataErrors, object, old);
  }

  /** Checks kind and apiVersion. Nothing else is checked of an object of another type. */
  typeErrors(object: JsonObject): FieldError[] {
    const { kind, apiVersion } = this.#kind;
    return [
      ...(object["kind"] === kind ? [] : [fieldError.invalid("kind", object["kind"] ?? "", `must be ${kind}`)]),
      ...(object["apiVersion"] === apiVersion
        ? []
        : [fieldError.invalid("apiVersion", object["apiVersion"] ?? "", `must be ${apiVersion}`)]),
    ];
  }

  *#withRules(
    errors: readonly FieldError[],
    metadataErrors: readonly FieldError[],
    object: JsonObject,
    old: JsonObject | undefined,
  ): Generator<void, InstanceProblems> {
    const validator = this.#ruleValidator();
    if (validator === undefined) return { errors, warnings: [] };
    if ([...metadataErrors, ...errors].some(({ reason }) => blockingReasons.has(reason))) {
      return { errors: [...errors, fieldError.invalid(rootPath, null, blockedText)], warnings: [] };
    }
    const found = yield* runRules(validator, object, old);
    return {
      errors: [...errors, ...found.errors.map(toFieldError)],
      warnings: found.warnings.map((warning) => {
        const { field, message } = toFieldError(warning);
        return `${field}: ${message}`;
      }),
    };
  }

  #ruleValidator(): RuleValidator | undefined {
    this.#rules ??= { validator: makeRuleValidator(this.#kind.schema.schema as RuleSchema, ruleEnvironments) };
    return this.#rules.validator;
  }
}

/** Rules of stored definitions may use everything that the program knows. */
const ruleEnvironments = { environmentOf: () => storedEnvironment() };
