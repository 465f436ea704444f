import type { FieldError } from "../api/field-error.ts";
import type { GroupVersion } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { validateSchema } from "../api/schema/validate.ts";
import type { DeclarativeValidation } from "./declarative/declarative-validation.ts";
import { inTurns } from "./in-turns.ts";
import type { StepContext, Strategy } from "./strategy.ts";

export interface ObjectRules {
  readonly strategy: Strategy;
  /** The stored form: objects are in it. */
  readonly info: ResourceInfo;
  /** Version of the request. */
  readonly version: GroupVersion;
  readonly declarative: DeclarativeValidation | undefined;
}

/**
 * Returns the problems of an object beyond its metadata, by the rules of its kind, the rules that its type declares,
 * and its schema. The rules of the kind come first. The schema adds problems of fields that have none yet.
 */
export function objectProblems(
  object: KubeObject,
  old: KubeObject | undefined,
  rules: ObjectRules,
): readonly FieldError[] {
  const { strategy, version } = rules;
  const written = [
    ...strategy.validate(object, old, version),
    ...(old === undefined ? [] : strategy.validateUpdate(object, old, version)),
  ];
  return withDeclared(object, old, rules, written);
}

/** Returns the same for a kind whose validation takes steps; undefined for the others. */
export function objectProblemsInSteps(
  object: KubeObject,
  old: KubeObject | undefined,
  rules: ObjectRules,
  context: StepContext,
): Promise<readonly FieldError[]> | undefined {
  const steps = rules.strategy.validateInSteps?.(object, old, context);
  return steps && inTurns(steps).then((written) => withDeclared(object, old, rules, written));
}

function withDeclared(
  object: KubeObject,
  old: KubeObject | undefined,
  { strategy, info, declarative }: ObjectRules,
  written: readonly FieldError[],
): readonly FieldError[] {
  if (info.form.kind !== "struct") return written;
  const { schema } = info.form;
  const errors = declarative?.reconcile(schema, object, old, written) ?? written;
  if (strategy.coversSchema) return errors;
  const known = new Set(errors.map(({ field }) => field));
  const more = validateSchema(schema, object as unknown as JsonObject);
  return [...errors, ...more.filter(({ field }) => !known.has(field))];
}
