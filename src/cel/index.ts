export { estimateCost } from "./cost/estimate.ts";
export type { Range } from "./cost/range.ts";
export { type Declared, Environment, type Library } from "./environment.ts";
export type { Activation } from "./evaluate/frame.ts";
export { ProgramError } from "./evaluate/planner.ts";
export {
  type AccessCheck,
  type AccessChecker,
  type AccessDecision,
  AuthorizerValue,
  authorizerType,
  PendingCheck,
  type RequestResource,
  ResourceCheckValue,
  resourceCheckType,
} from "./library/authorizer.ts";
export { bindingsLibrary } from "./library/bindings.ts";
export { jsonPatchLibrary } from "./library/json-patch.ts";
export { QuantityValue, quantityType, toQuantity } from "./library/quantity.ts";
export { SemverValue } from "./library/semver.ts";
export { costLimitMessage, costPerCallMax, objectCostMax } from "./limits.ts";
export { type Compiled, CompileError, compile, isFailure, type Outcome, Program, type Run } from "./program.ts";
export { type CachedProgram, ProgramCache } from "./program-cache.ts";
export { declareType, providerOf } from "./schema/declared-type.ts";
export { unescapeFieldName } from "./schema/field-name.ts";
export { placeBelow, RuleChecker, type RulePlace, rootPlace, ruleFormProblems } from "./schema/rule-check.ts";
export { toFieldError } from "./schema/rule-problem.ts";
export { type RuleSchema, shownRule, type ValidationRule } from "./schema/rule-schema.ts";
export {
  makeRuleValidator,
  type RuleValidation,
  type RuleValidator,
  runRules,
} from "./schema/rule-validator.ts";
export { typedValue } from "./schema/typed-value.ts";
export { selectsField } from "./syntax/selected-field.ts";
export { compileTyped, compileTypedInSteps, ExpressionProblem, type TypedProgram } from "./typed-program.ts";
export * as celTypes from "./types/cel-type.ts";
export { recordTypes } from "./types/record-types.ts";
export { joinProviders, type TypeProvider } from "./types/type-provider.ts";
export { isJsonFields, isJsonList, type Json, type JsonFields, JsonList, jsonValue } from "./values/json-value.ts";
export { entriesOf } from "./values/maps.ts";
export { type HasJsonForm, NoJsonForm, toJson } from "./values/to-json.ts";
export { EvaluationError, isError, List, OpaqueValue, type Result, type Value, ValueMap } from "./values/value.ts";
export { newEnvironment, storedEnvironment } from "./versions.ts";
