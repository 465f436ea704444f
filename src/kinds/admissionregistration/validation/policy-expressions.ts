import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { celTypes, compileTypedInSteps, ExpressionProblem } from "../../../cel/index.ts";
import { Composition } from "../expressions/composition.ts";
import { type ExpressionPlace, expressionEnvironment } from "../expressions/environments.ts";
import { objectType, patchOperationType } from "../expressions/patch-values.ts";

const { boolType, listOf, nullType, stringType } = celTypes;

/** The types of results, by use. */
export const resultTypes = {
  condition: [boolType],
  message: [stringType],
  auditAnnotation: [stringType, nullType],
  applyConfiguration: [objectType],
  jsonPatch: [listOf(patchOperationType)],
  variable: [],
} as const satisfies Record<string, readonly celTypes.CelType[]>;

export interface PolicyExpressionOptions {
  readonly hasParams: boolean;
  /** Whether expressions know the name `variables`. */
  readonly composes: boolean;
  /** The texts that the policy had before this write. */
  readonly stored: ReadonlySet<string>;
}

/** Compiles the expressions of one policy, in the order in which they are written. */
export class PolicyExpressions {
  readonly #options: PolicyExpressionOptions;
  readonly #composition = new Composition();

  constructor(options: PolicyExpressionOptions) {
    this.#options = options;
  }

  addVariable(name: string, text: string, field: string): Generator<void, FieldError[]> {
    return problemsOf(
      field,
      text,
      this.#composition.addVariable(name, text, this.#place({ hasAuthorizer: true }), this.#age(text)),
    );
  }

  /** @param shown the value that an error shows, if it is not the text itself */
  check(
    use: "condition" | "message" | "auditAnnotation" | "applyConfiguration" | "jsonPatch",
    text: string,
    field: string,
    shown = text,
  ): Generator<void, FieldError[]> {
    const makesPatches = use === "applyConfiguration" || use === "jsonPatch";
    const place = this.#place({ hasAuthorizer: use !== "message", makesPatches });
    const steps = this.#options.composes
      ? this.#composition.compile(text, place, this.#age(shown), resultTypes[use])
      : compileTypedInSteps(text, expressionEnvironment(place, this.#age(shown)), resultTypes[use]);
    return problemsOf(field, shown, steps);
  }

  #place(place: ExpressionPlace): ExpressionPlace {
    return { ...place, hasParams: this.#options.hasParams };
  }

  #age(text: string): "new" | "stored" {
    return this.#options.stored.has(text) ? "stored" : "new";
  }
}

/** Runs a compilation. @returns its problem as that of a field */
export function* problemsOf(
  field: string,
  text: string,
  compilation: Generator<void, unknown>,
): Generator<void, FieldError[]> {
  try {
    yield* compilation;
    return [];
  } catch (error) {
    if (error instanceof ExpressionProblem) return [fieldError.invalid(field, text, error.message)];
    throw error;
  }
}
