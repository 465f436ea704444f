import { type GroupVersionKind, parseApiVersion } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type {
  NamedRuleWithOperations,
  ValidatingAdmissionPolicy,
  Variable,
} from "../../api/types/admissionregistration-v1.ts";
import {
  authorizerType,
  celTypes,
  type Environment,
  ExpressionProblem,
  joinProviders,
  storedEnvironment,
} from "../../cel/index.ts";
import { Composition } from "./expressions/composition.ts";
import { type ObjectType, objectTypeOf } from "./expressions/object-types.ts";
import { namespaceType, requestType, requestTypes } from "./expressions/request-types.ts";

/** Kinds that are checked for one rule of a policy. */
const kindsMax = 10;

/** Finds resources and kinds that are served now. */
export interface ServedKinds {
  find(group: string, version: string, resource: string): ResourceInfo | undefined;
  findKind(gvk: GroupVersionKind): ResourceInfo | undefined;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/**
 * Checks the expressions of a policy against the types of all kinds that it names without a wildcard. A warning for a
 * kind does not keep the policy from checking its objects. Yields between compilations.
 */
export function* typeWarnings(
  { spec = {} }: ValidatingAdmissionPolicy,
  served: ServedKinds,
): Generator<void, ExpressionWarning[]> {
  const params = paramsType(spec.paramKind, served);
  const typings: KindTyping[] = [];
  for (const { name, type } of kindsOf(spec.matchConstraints?.resourceRules ?? [], served)) {
    typings.push({ name, composition: yield* compositionOf(spec.variables ?? [], typedEnvironment(type, params)) });
  }
  const warnings: ExpressionWarning[] = [];
  for (const [at, { expression = "", messageExpression = "" }] of (spec.validations ?? []).entries()) {
    const field = `spec.validations[${at}]`;
    warnings.push(...(yield* warningsOf(expression, `${field}.expression`, typings)));
    if (messageExpression === "") continue;
    warnings.push(...(yield* warningsOf(messageExpression, `${field}.messageExpression`, typings)));
  }
  return warnings;
}

/** The environment of expressions about the objects of a kind. */
interface KindTyping {
  readonly name: string;
  readonly composition: Composition;
}

function* warningsOf(text: string, field: string, kinds: readonly KindTyping[]): Generator<void, ExpressionWarning[]> {
  const problems: string[] = [];
  for (const { name, composition } of kinds) {
    const problem = yield* problemOf(text, composition);
    if (problem !== undefined) problems.push(`${name}: ${problem}\n`);
    yield;
  }
  return problems.length === 0 ? [] : [{ fieldRef: field, warning: problems.join("\n") }];
}

interface CheckedKind {
  /** `apps/v1, Kind=Deployment`. */
  readonly name: string;
  readonly type: ObjectType;
}

function kindsOf(rules: readonly NamedRuleWithOperations[], served: ServedKinds): CheckedKind[] {
  const infos = new Set<ResourceInfo>();
  for (const rule of rules) {
    const found = resourcesOf(rule, served);
    for (const info of found.slice(0, kindsMax)) infos.add(info);
    if (found.length >= kindsMax) break;
  }
  const sorted = [...infos].sort((a, b) => compareKinds(a, b));
  return sorted.flatMap((info) => {
    const type = objectTypeOf(info.form, info.kind);
    return type === undefined ? [] : [{ name: `${info.group}/${info.version}, Kind=${info.kind}`, type }];
  });
}

function resourcesOf(
  { apiGroups = [], apiVersions = [], resources = [] }: NamedRuleWithOperations,
  served: ServedKinds,
): ResourceInfo[] {
  if ([...apiGroups, ...apiVersions].some((text) => text.includes("*"))) return [];
  const named = resources.filter((text) => !text.includes("*") && !text.includes("/")).sort();
  return apiGroups
    .toSorted()
    .flatMap((group) =>
      apiVersions
        .toSorted()
        .flatMap((version) => named.flatMap((resource) => served.find(group, version, resource) ?? [])),
    );
}

function compareKinds(a: GroupVersionKind, b: GroupVersionKind): number {
  const [first, second] = [a, b].map(({ group, version, kind }) => [group, version, kind].join("\0"));
  return (first ?? "") < (second ?? "") ? -1 : 1;
}

/** Returns undefined without parameters. Those of an unknown kind are dynamic. */
function paramsType(
  paramKind: { readonly apiVersion?: string; readonly kind?: string } | undefined,
  served: ServedKinds,
): ObjectType | "dynamic" | undefined {
  if (paramKind === undefined) return undefined;
  const { apiVersion = "", kind = "" } = paramKind;
  const parsed = parseApiVersion(apiVersion);
  const info = parsed === undefined ? undefined : served.findKind({ ...parsed, kind });
  return (info && objectTypeOf(info.form, `params ${info.kind}`)) ?? "dynamic";
}

function typedEnvironment(object: ObjectType, params: ObjectType | "dynamic" | undefined): Environment {
  const paramsVariable = params === "dynamic" ? celTypes.dynType : params?.type;
  const objects = joinProviders(object.provider, requestTypes);
  return storedEnvironment().extend({
    variables: new Map([
      ["object", object.type],
      ["oldObject", object.type],
      ["request", requestType],
      ["namespaceObject", namespaceType],
      ["authorizer", authorizerType],
      ...(paramsVariable === undefined ? [] : ([["params", paramsVariable]] as const)),
    ]),
    provider: params === undefined || params === "dynamic" ? objects : joinProviders(params.provider, objects),
  });
}

function* compositionOf(variables: readonly Variable[], environment: Environment): Generator<void, Composition> {
  const composition = new Composition(() => environment);
  for (const { name = "", expression = "" } of variables) {
    try {
      yield* composition.addVariable(name, expression, {}, "stored");
    } catch (error) {
      if (!(error instanceof ExpressionProblem)) throw error;
    }
    yield;
  }
  return composition;
}

function* problemOf(text: string, composition: Composition): Generator<void, string | undefined> {
  try {
    yield* composition.compile(text, {}, "stored", []);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionProblem) return error.message.replace("compilation failed: ", "");
    throw error;
  }
}

/** Returns the `status.typeChecking` that the warnings make. */
export function typeCheckingOf(warnings: readonly ExpressionWarning[]): JsonObject {
  return warnings.length === 0 ? {} : { expressionWarnings: warnings.map((warning) => ({ ...warning })) };
}
