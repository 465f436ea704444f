import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { compatibleMinor } from "../../../api/release.ts";
import { type OpenApiSchema, someSchema } from "../../../api/structural/open-api-schema.ts";
import { newEnvironment, RuleChecker, storedEnvironment, toFieldError } from "../../../cel/index.ts";
import { validateDefaults } from "./default-values.ts";
import type { SchemaRatchets } from "./schema-ratchets.ts";
import { validateSchemaRules } from "./schema-rules.ts";
import { shownSchema } from "./shown-definition.ts";
import { structuralObstacle, validateStructural } from "./structural-rules.ts";

/** Expressions that the stored definition has already; they may use everything that the program knows. */
export interface StoredExpressions {
  readonly rule: ReadonlySet<string>;
  readonly messageExpression: ReadonlySet<string>;
}

export interface DefinitionSchemaOptions {
  /** Path of the object that holds the `openAPIV3Schema`. */
  readonly path: string;
  readonly hasStatus: boolean;
  readonly ratchets: SchemaRatchets;
  readonly requiresStructural: boolean;
  readonly stored: StoredExpressions;
  readonly ignoresRuleCosts: boolean;
}

/** Fields that are allowed at the root if the status is validated by its own part of the schema. */
const rootFields: ReadonlyMap<string, string> = new Map([
  ["description", "Description"],
  ["type", "Type"],
  ["format", "Format"],
  ["title", "Title"],
  ["maximum", "Maximum"],
  ["exclusiveMaximum", "ExclusiveMaximum"],
  ["minimum", "Minimum"],
  ["exclusiveMinimum", "ExclusiveMinimum"],
  ["maxLength", "MaxLength"],
  ["minLength", "MinLength"],
  ["pattern", "Pattern"],
  ["maxItems", "MaxItems"],
  ["minItems", "MinItems"],
  ["uniqueItems", "UniqueItems"],
  ["multipleOf", "MultipleOf"],
  ["required", "Required"],
  ["items", "Items"],
  ["properties", "Properties"],
  ["externalDocs", "ExternalDocs"],
  ["example", "Example"],
  ["x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"],
  ["x-kubernetes-validations", "XValidations"],
]);

/** Collects the expressions of schemas. */
export function expressionsOf(schemas: readonly (OpenApiSchema | undefined)[]): StoredExpressions {
  const expressions = { rule: new Set<string>(), messageExpression: new Set<string>() };
  for (const schema of schemas) {
    someSchema(schema, ({ "x-kubernetes-validations": rules = [] }) => {
      for (const { rule, messageExpression } of rules) {
        expressions.rule.add(rule);
        if (messageExpression !== undefined) expressions.messageExpression.add(messageExpression);
      }
      return false;
    });
  }
  return expressions;
}

/** Checks the schema of one version, or of all versions. Yields between rules. */
export function* validateDefinitionSchema(
  schema: OpenApiSchema,
  { path: parent, hasStatus, ratchets, requiresStructural, stored, ignoresRuleCosts }: DefinitionSchemaOptions,
): Generator<void, FieldError[]> {
  const path = `${parent}.openAPIV3Schema`;
  const errors = hasStatus ? validateRootWithStatus(schema, path) : [];
  if (schema.nullable === true) {
    errors.push(fieldError.forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  }
  const obstacle = requiresStructural ? structuralObstacle(schema) : undefined;
  yield;
  const structuralErrors =
    requiresStructural && obstacle === undefined
      ? yield* validateStructure(schema, path, ratchets.requiresPrunedDefaults)
      : [];
  errors.push(...structuralErrors);
  const compiles = requiresStructural && obstacle === undefined && structuralErrors.length === 0;
  const environmentOf = (text: string, part: keyof StoredExpressions) =>
    stored[part].has(text) ? storedEnvironment() : newEnvironment(compatibleMinor);
  const checker = compiles ? new RuleChecker({ environmentOf }) : undefined;
  errors.push(...(yield* validateSchemaRules(schema, { path, ratchets, checker, ignoresRuleCosts })));
  if (errors.length === 0 && obstacle !== undefined) errors.push(fieldError.invalid(path, "", obstacle));
  for (const problem of checker?.totalProblems(path) ?? []) errors.push(toFieldError(problem));
  return errors;
}

function* validateStructure(
  schema: OpenApiSchema,
  path: string,
  requiresPrunedDefaults: boolean,
): Generator<void, FieldError[]> {
  const errors = yield* validateStructural(schema, path);
  yield;
  return errors.length > 0 ? errors : yield* validateDefaults(schema, path, requiresPrunedDefaults);
}

/** Checks that nothing is said at the root that the status alone could break. */
function validateRootWithStatus(schema: OpenApiSchema, path: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== "object") {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [fieldError.invalid(`${path}.type`, schema.type, detail)];
  }
  if (Object.keys(schema).every((name) => rootFields.has(name))) return [];
  const allowed = [...rootFields.values()].join(" ");
  const detail = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [fieldError.invalid(path, shownSchema(schema), detail)];
}
