import type { JsonObject } from "../../api/json.ts";
import type { Decoded } from "../../api/schema/decode.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import type { ObjectForm } from "../../api/scheme/object-form.ts";
import { status } from "../../api/status.ts";
import type { MutatingAdmissionPolicy, Mutation } from "../../api/types/admissionregistration-v1.ts";
import { JsonPatchError, patchDocument } from "../../apply/patch/json-patch.ts";
import { isError, type Json, List, NoJsonForm, type Result, toJson, type Value } from "../../cel/index.ts";
import {
  ObjectValue,
  PatchOperationValue,
  typeNameProblems,
} from "../../kinds/admissionregistration/expressions/patch-values.ts";
import type { EvaluationSteps } from "../expressions/access-checks.ts";
import { Evaluation, evaluationCostMax, OutOfBudget, type StoredExpression } from "../expressions/evaluation.ts";
import { type ConditionsTime, evaluateMatchConditions, type MatchCondition } from "../expressions/match-conditions.ts";
import { conditionRequest, type ExpressionRequest, RequestValues } from "../expressions/request-values.ts";
import { applyConfiguration } from "./apply-configuration.ts";
import { PolicyCompiler } from "./compile-policy.ts";
import { MutationError } from "./mutation-error.ts";

interface CompiledMutation {
  readonly patchType: "ApplyConfiguration" | "JSONPatch";
  readonly expression: StoredExpression;
}

/** The documents that a policy changes. */
export interface MutatedDocuments {
  readonly form: ObjectForm;
  /** Decodes a changed document. It must not change afterwards. @throws DecodeTypeError */
  decode(document: JsonObject): Decoded;
}

/** A MutatingAdmissionPolicy, ready to change documents. */
export class MutatingPolicy {
  readonly reinvokes: boolean;
  readonly mutations: readonly CompiledMutation[];
  readonly #failsClosed: boolean;
  readonly #compiler: PolicyCompiler;
  readonly #conditions: readonly MatchCondition[];

  private constructor(
    { spec }: MutatingAdmissionPolicy,
    compiler: PolicyCompiler,
    conditions: readonly MatchCondition[],
    mutations: readonly CompiledMutation[],
  ) {
    this.reinvokes = spec?.reinvocationPolicy === "IfNeeded";
    this.#failsClosed = spec?.failurePolicy !== "Ignore";
    this.#compiler = compiler;
    this.#conditions = conditions;
    this.mutations = mutations;
  }

  /** Yields between expressions. */
  static *compile(policy: MutatingAdmissionPolicy): Generator<void, MutatingPolicy> {
    const { paramKind, variables, matchConditions, mutations = [] } = policy.spec ?? {};
    const compiler = new PolicyCompiler(paramKind !== undefined);
    yield* compiler.addVariables(variables);
    const conditions = yield* compiler.conditions(matchConditions);
    const compiled: CompiledMutation[] = [];
    for (const mutation of mutations) {
      compiled.push(yield* compileMutation(mutation, compiler));
      yield;
    }
    return new MutatingPolicy(policy, compiler, conditions, compiled);
  }

  get hasConditions(): boolean {
    return this.#conditions.length > 0;
  }

  /** Reports whether the conditions hold. @throws MutationError, PendingCheck */
  *matches(
    request: ExpressionRequest,
    params: Json | undefined,
    observe?: (time: ConditionsTime) => void,
  ): EvaluationSteps<boolean> {
    const values = new RequestValues(conditionRequest(request));
    const { variables } = this.#compiler;
    const options = { variables, params, observe };
    const outcome = yield* evaluateMatchConditions(this.#conditions, values, options);
    if (outcome.kind === "failed" && this.#failsClosed) throw new MutationError(outcome.message);
    return outcome.kind === "match";
  }

  /**
   * Returns the document as a mutation changes it.
   * @throws MutationError, PendingCheck, and StatusError 500 if the document does not fit its kind after a JSON patch
   */
  *mutate(
    { patchType, expression }: CompiledMutation,
    request: ExpressionRequest,
    params: Json | undefined,
    documents: MutatedDocuments,
  ): EvaluationSteps<JsonObject> {
    const document = request.object as unknown as JsonObject;
    const value = yield* this.#evaluate(expression, request, params);
    return patchType === "JSONPatch"
      ? patched(document, operationsOf(value), documents)
      : applied(document, configurationOf(value, document), documents);
  }

  *#evaluate(
    expression: StoredExpression,
    request: ExpressionRequest,
    params: Json | undefined,
  ): EvaluationSteps<Value> {
    if (expression.kind === "failed") throw new MutationError(expression.problem);
    const { variables } = this.#compiler;
    const budget = evaluationCostMax;
    const evaluation = new Evaluation(new RequestValues(request), { variables, params, budget });
    try {
      const result = yield* evaluation.run(expression);
      if (!isError(result)) return result;
      throw new MutationError(result.message);
    } catch (error) {
      if (error instanceof OutOfBudget) throw new MutationError(error.message);
      throw error;
    }
  }
}

function* compileMutation(mutation: Mutation, compiler: PolicyCompiler): Generator<void, CompiledMutation> {
  const { patchType, applyConfiguration: configuration, jsonPatch } = mutation;
  const place = { hasAuthorizer: true, makesPatches: true };
  if (patchType === "JSONPatch") {
    return { patchType, expression: yield* compiler.compile(jsonPatch?.expression ?? "", "jsonPatch", place) };
  }
  const text = configuration?.expression ?? "";
  return { patchType: "ApplyConfiguration", expression: yield* compiler.compile(text, "applyConfiguration", place) };
}

function configurationOf(value: Value, { apiVersion, kind }: JsonObject): JsonObject {
  if (!(value instanceof ObjectValue))
    throw new MutationError("unsupported return type from ApplyConfiguration expression");
  refuseTypeNames(value);
  try {
    return Object.assign(value.toJsonForm(), { apiVersion, kind });
  } catch (error) {
    if (error instanceof NoJsonForm) throw new MutationError(error.message);
    throw error;
  }
}

function refuseTypeNames(value: ObjectValue): void {
  const problems = typeNameProblems(value, value.type.name);
  if (problems.length > 0) throw new MutationError(`type mismatch: ${problems.join("\n")}`);
}

function operationsOf(value: Value): JsonObject[] {
  if (!(value instanceof List)) {
    throw new MutationError("type mismatch: JSONPatchType.expression should evaluate to array");
  }
  const operations: JsonObject[] = [];
  for (let at = 0; at < value.size; at++) operations.push(operationOf(value.at(at)));
  return operations;
}

function operationOf(operation: Result): JsonObject {
  if (!(operation instanceof PatchOperationValue)) {
    throw new MutationError("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch");
  }
  const fields: JsonObject = { op: operation.text("op"), path: operation.text("path") };
  const from = operation.text("from");
  if (from !== "") fields["from"] = from;
  const value = operation.fields.get("value");
  if (value === undefined) return fields;
  if (value instanceof ObjectValue) refuseTypeNames(value);
  try {
    return { ...fields, value: toJson(value) } as JsonObject;
  } catch (error) {
    if (!(error instanceof NoJsonForm)) throw error;
    throw new MutationError(
      `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`,
    );
  }
}

/** A patch whose `test` fails changes nothing. */
function patched(document: JsonObject, operations: JsonObject[], documents: MutatedDocuments): JsonObject {
  let result: JsonObject;
  try {
    result = patchDocument(document, operations) as JsonObject;
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    if (error.isFailedTest) return document;
    throw new MutationError(`JSON Patch: ${error.message}`);
  }
  const { object, unknownFields } = decoded(result, documents, (message) => status.internal(message));
  if (unknownFields.length === 0) return object;
  const unknown = unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`);
  throw status.internal(`strict decoding error: ${unknown.join(", ")}`);
}

function applied(document: JsonObject, configuration: JsonObject, documents: MutatedDocuments): JsonObject {
  const merged = applyConfiguration(document, configuration, documents.form);
  return decoded(merged, documents, (message) => new MutationError(message)).object;
}

function decoded(document: JsonObject, documents: MutatedDocuments, refusal: (message: string) => Error): Decoded {
  try {
    return documents.decode(document);
  } catch (error) {
    if (error instanceof DecodeTypeError) throw refusal(error.message);
    throw error;
  }
}
