import type { FieldError } from "../api/field-error.ts";
import type { GroupVersion } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { validateSchema } from "../api/schema/validate.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { Eventual } from "../process/eventual.ts";
import { atOnce, runSliced } from "../process/sliced.ts";
import { DeclarativeValidation } from "./declarative/declarative-validation.ts";
import type { Strategy } from "./strategy.ts";

export interface ObjectRules {
  readonly strategy: Strategy;
  /** Stored form, in which the objects are. */
  readonly info: ResourceInfo;
  /** Version of the request. */
  readonly version: GroupVersion;
  readonly declarative: DeclarativeValidation | undefined;
  /** True if others get a turn between the rules; false by default. */
  readonly isLarge?: boolean;
}

const everyGateOn = new DeclarativeValidation({ enabled: () => true, takeover: false, onMismatch() {} });

/**
 * Returns the problems of an object beyond its metadata, by the rules of its kind, the rules that its type declares,
 * and its schema. The rules of the kind come first. The schema adds problems of fields that have none yet.
 */
export function objectProblems(
  object: KubeObject,
  old: KubeObject | undefined,
  rules: ObjectRules,
): Eventual<readonly FieldError[]> {
  const takesTurns = rules.isLarge === true || rules.strategy.validateInTurns !== undefined;
  return (takesTurns ? runSliced : atOnce)(problemsInSteps(object, old, rules));
}

function* problemsInSteps(
  object: KubeObject,
  old: KubeObject | undefined,
  rules: ObjectRules,
): Generator<void, readonly FieldError[]> {
  const { strategy, version } = rules;
  const errors =
    strategy.validateInTurns === undefined
      ? strategy.validate(object, old, version)
      : yield* strategy.validateInTurns(object, old);
  yield;
  const more = old === undefined ? [] : strategy.validateUpdate(object, old, version);
  yield;
  return yield* withTypeProblems([...errors, ...more], object, old, rules);
}

/** Adds the problems by the type to those by the rules of the kind. */
function* withTypeProblems(
  written: readonly FieldError[],
  object: KubeObject,
  old: KubeObject | undefined,
  { strategy, info, declarative = everyGateOn }: ObjectRules,
): Generator<void, readonly FieldError[]> {
  if (info.form.kind !== "struct") return written;
  const { schema } = info.form;
  if (strategy.declaresRules) return [...written, ...declarative.enforce(schema, object, old)];
  const errors = declarative.reconcile(schema, object, old, written);
  if (strategy.coversSchema) return errors;
  yield;
  const more = validateSchema(schema, object as unknown as JsonObject);
  if (more.length === 0) return errors;
  const known = new Set(errors.map(({ field }) => field));
  return [...errors, ...more.filter(({ field }) => !known.has(field))];
}
