import {
  celTypes,
  compileTypedInSteps,
  type Environment,
  ExpressionProblem,
  type TypedProgram,
} from "../../../cel/index.ts";
import { type ExpressionAge, type ExpressionPlace, expressionEnvironment } from "./environments.ts";

const variablesType = celTypes.structOf("kubernetes.variables");

/** A variable that does not compile keeps its name: expressions that use it fail when they run. */
export type CompiledVariable =
  | { readonly kind: "ready"; readonly program: TypedProgram }
  | { readonly kind: "failed"; readonly problem: string };

/** Compiles the expressions of one policy, which may refer to the variables that come before them. */
export class Composition {
  readonly variables = new Map<string, CompiledVariable>();
  readonly #types = new Map<string, celTypes.CelType>();
  readonly #environments = new Map<Environment, Environment>();
  readonly #environmentOf: typeof expressionEnvironment;

  /** @param environmentOf another than that of dynamic objects, to check types */
  constructor(environmentOf: typeof expressionEnvironment = expressionEnvironment) {
    this.#environmentOf = environmentOf;
  }

  /** Adds a variable, in place of an earlier one of this name. @throws ExpressionProblem, and keeps the name anyway */
  *addVariable(name: string, text: string, place: ExpressionPlace, age: ExpressionAge): Generator<void, void> {
    try {
      const program = yield* this.compile(text, place, age, []);
      this.#types.set(name, fieldType(program.compiled.type));
      this.variables.set(name, { kind: "ready", program });
    } catch (error) {
      this.#types.set(name, celTypes.dynType);
      if (!(error instanceof ExpressionProblem)) throw error;
      this.variables.set(name, { kind: "failed", problem: error.message });
      throw error;
    }
  }

  /** Yields between the phases. @throws ExpressionProblem */
  compile(
    text: string,
    place: ExpressionPlace,
    age: ExpressionAge,
    expected: readonly celTypes.CelType[],
  ): Generator<void, TypedProgram> {
    return compileTypedInSteps(text, this.#composed(this.#environmentOf(place, age)), expected);
  }

  #composed(base: Environment): Environment {
    let environment = this.#environments.get(base);
    if (environment === undefined) {
      environment = base.extend({
        variables: new Map([["variables", variablesType]]),
        provider: {
          findStruct: (name) => (name === variablesType.name ? variablesType : undefined),
          findField: (_, field) => this.#types.get(field),
        },
      });
      this.#environments.set(base, environment);
    }
    return environment;
  }
}

/** Fields of variables are scalars, lists and maps; all else is dynamic. */
function fieldType(type: celTypes.CelType): celTypes.CelType {
  const { dynType, listOf, mapOf } = celTypes;
  switch (type.kind) {
    case "list":
      return listOf(fieldType(type.first));
    case "map":
      return mapOf(fieldType(type.first), fieldType(type.second));
    case "struct":
    case "opaque":
    case "param":
    case "type":
    case "error":
      return dynType;
    default:
      return type.nullable ? dynType : type;
  }
}
