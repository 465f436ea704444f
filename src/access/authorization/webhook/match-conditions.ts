import type { JsonObject } from "../../../api/json.ts";
import {
  celTypes,
  compileTyped,
  isError,
  type Json,
  jsonValue,
  recordTypes,
  storedEnvironment,
} from "../../../cel/index.ts";

/** Evaluates one compiled `matchConditions[].expression`. @throws Error if it fails for this request */
export type MatchCondition = (request: JsonObject) => boolean;

const { boolType, listOf, mapOf, stringType, structOf } = celTypes;
const texts = listOf(stringType);
const requirementType = structOf("kubernetes.SelectorRequirement");
const fieldSelectorType = structOf("kubernetes.FieldSelectorAttributes");
const labelSelectorType = structOf("kubernetes.LabelSelectorAttributes");
const resourceType = structOf("kubernetes.ResourceAttributes");
const nonResourceType = structOf("kubernetes.NonResourceAttributes");
const requestType = structOf("kubernetes.SubjectAccessReviewSpec");
const selectorFields = { rawSelector: stringType, requirements: listOf(requirementType) };
const resourceTexts = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];

const environment = storedEnvironment().extend({
  variables: new Map([["request", requestType]]),
  provider: recordTypes(
    new Map<celTypes.CelType, Readonly<Record<string, celTypes.CelType>>>([
      [requirementType, { key: stringType, operator: stringType, values: texts }],
      [fieldSelectorType, selectorFields],
      [labelSelectorType, selectorFields],
      [
        resourceType,
        {
          ...Object.fromEntries(resourceTexts.map((name) => [name, stringType])),
          fieldSelector: fieldSelectorType,
          labelSelector: labelSelectorType,
        },
      ],
      [nonResourceType, { path: stringType, verb: stringType }],
      [
        requestType,
        {
          resourceAttributes: resourceType,
          nonResourceAttributes: nonResourceType,
          user: stringType,
          groups: texts,
          extra: mapOf(stringType, texts),
          uid: stringType,
        },
      ],
    ]),
  ),
});

/** Compiles an expression over `request`, the spec of the review. @throws ExpressionProblem */
export function compileMatchCondition(expression: string): MatchCondition {
  const { program } = compileTyped(expression, environment, [boolType]);
  return (request) => {
    const value = jsonValue(completed(request) as Json);
    const result = program.evaluate({ resolve: (name) => (name === "request" ? value : undefined) }).value;
    if (!isError(result)) return result === true;
    throw new Error(`cel evaluation error: expression '${expression}' resulted in error: ${result.message}`);
  };
}

/** Adds the texts that a review leaves out where they are empty: conditions may read them without asking first. */
function completed({ resourceAttributes, ...spec }: JsonObject): JsonObject {
  const empty = Object.fromEntries(resourceTexts.map((name) => [name, ""]));
  return {
    user: "",
    groups: [],
    uid: "",
    extra: {},
    ...spec,
    ...(resourceAttributes === undefined
      ? {}
      : { resourceAttributes: { ...empty, ...(resourceAttributes as JsonObject) } }),
  };
}

/**
 * Reports whether to call a webhook: false if any condition is false, true if all are true.
 * @throws Error of the failed conditions, if none is false
 */
export function conditionsMatch(conditions: readonly MatchCondition[], request: JsonObject): boolean {
  const failures: Error[] = [];
  for (const condition of conditions) {
    try {
      if (!condition(request)) return false;
    } catch (error) {
      failures.push(error as Error);
    }
  }
  const [first] = failures;
  if (first === undefined) return true;
  throw failures.length === 1 ? first : new Error(`[${failures.map(({ message }) => message).join(", ")}]`);
}
