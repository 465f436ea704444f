import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { celTypes, compileTypedInSteps, ExpressionProblem, estimateCost } from "../../../cel/index.ts";
import { deviceEnvironment, deviceSizeAt, type ExpressionAge } from "../device-expressions.ts";

const selectorsMax = 32;
const expressionBytesMax = 10 * 1024;
const costMax = 1_000_000n;

type Selectors = readonly resourceV1.DeviceSelector[];

/** Returns the problem of an expression as an error of its field. */
type Problem = (field: string) => FieldError;

/** Problems by expression; one without problems is absent. */
export type ExpressionProblems = ReadonlyMap<string, Problem>;

/** Compiles the expressions of lists of selectors. Yields between them, and between the phases of each. */
export function* compileSelectors(
  lists: Iterable<Selectors>,
  age: ExpressionAge = "new",
): Generator<void, ExpressionProblems> {
  const problems = new Map<string, Problem>();
  const seen = new Set<string>();
  for (const list of lists) {
    // No expression of a list that is too long is looked up.
    if (list.length > selectorsMax) continue;
    for (const { cel: { expression = "" } = {} } of list) {
      if (seen.has(expression)) continue;
      seen.add(expression);
      const problem = yield* problemOf(expression, age);
      if (problem !== undefined) problems.set(expression, problem);
      // A response contains no more errors than this.
      if (problems.size === fieldErrorsMax) return problems;
      yield;
    }
  }
  return problems;
}

/** Validates selectors whose expressions were compiled. */
export function validateDeviceSelectors(
  selectors: Selectors,
  problems: ExpressionProblems,
  field: string,
): FieldError[] {
  const validate = ({ cel }: resourceV1.DeviceSelector, path: string) => {
    if (cel === undefined) return [fieldError.required(`${path}.cel`)];
    const problem = problems.get(cel.expression);
    return problem === undefined ? [] : [problem(`${path}.cel.expression`)];
  };
  return validateBoundedList(selectors, selectorsMax, validate, field);
}

function* problemOf(text: string, age: ExpressionAge): Generator<void, Problem | undefined> {
  if (Buffer.byteLength(text) > expressionBytesMax) return (field) => fieldError.tooLong(field, expressionBytesMax);
  try {
    const { compiled } = yield* compileTypedInSteps(text, deviceEnvironment(age), []);
    if (compiled.type.kind !== "bool" && compiled.type.kind !== "any") {
      const detail = `must evaluate to bool or the unknown type, not ${celTypes.typeText(compiled.type)}`;
      return (field) => fieldError.invalid(field, text, detail);
    }
    const { max } = estimateCost(compiled.checked, deviceSizeAt);
    return max > costMax ? (field) => fieldError.forbidden(field, "too complex, exceeds cost limit") : undefined;
  } catch (error) {
    if (!(error instanceof ExpressionProblem)) throw error;
    const { message } = error;
    return (field) => fieldError.invalid(field, text, message);
  }
}
