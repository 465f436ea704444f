import { type Implementation, implementationsOf } from "./evaluate/dispatch.ts";
import type { Macro, MacroTable } from "./syntax/macros.ts";
import type { CelType } from "./types/cel-type.ts";
import type { FunctionDeclaration } from "./types/declarations.ts";
import { mergeFunctions } from "./types/declarations.ts";
import { candidateNames, Scope } from "./types/scope.ts";
import { joinProviders, type TypeProvider, wellKnownTypes } from "./types/type-provider.ts";
import type { Result, Value } from "./values/value.ts";

/** Checks of literals and formats that are made after the types are known. */
export interface LiteralChecks {
  /** `duration("…")`, `timestamp("…")` and `matches("…")`. */
  readonly literals: boolean;
  /** `"…".format([…])`. */
  readonly formats: boolean;
}

/** Functions, macros and types that belong together. */
export interface Library {
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: MacroTable;
  readonly types?: readonly CelType[];
}

/** Makes the value of an object literal from its fields. */
export type Constructor = (fields: ReadonlyMap<string, Value>) => Result;
type ConstructorFinder = (typeName: string) => Constructor | undefined;

/** The declarations that a place of use adds to the libraries. */
export interface Declared {
  readonly variables?: ReadonlyMap<string, CelType>;
  readonly provider?: TypeProvider;
  /** Makes objects of types by name; undefined for a type that it does not know. */
  readonly constructorOf?: ConstructorFinder;
  readonly libraries?: readonly Library[];
  readonly container?: string;
}

interface EnvironmentOptions {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: MacroTable;
  readonly types: ReadonlyMap<string, CelType>;
  readonly variables: ReadonlyMap<string, CelType>;
  readonly provider: TypeProvider;
  readonly constructorOf: ConstructorFinder;
  readonly container: string;
  readonly optionalSyntax: boolean;
  readonly crossTypeComparison: boolean;
  readonly checks: LiteralChecks;
}

/** All that expressions of one place may use. It does not change; a place of use is made by extending another one. */
export class Environment {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: MacroTable;
  readonly types: ReadonlyMap<string, CelType>;
  readonly variables: ReadonlyMap<string, CelType>;
  readonly provider: TypeProvider;
  readonly constructorOf: ConstructorFinder;
  readonly optionalSyntax: boolean;
  readonly crossTypeComparison: boolean;
  readonly checks: LiteralChecks;
  readonly scope: Scope;
  readonly #container: string;
  readonly #makeTable: () => ReadonlyMap<string, Implementation>;
  #implementations: ReadonlyMap<string, Implementation> | undefined;

  /** @param makeTable returns the implementations, if another environment with the same functions has them */
  private constructor(options: EnvironmentOptions, makeTable?: () => ReadonlyMap<string, Implementation>) {
    this.functions = options.functions;
    this.macros = options.macros;
    this.types = options.types;
    this.variables = options.variables;
    this.provider = options.provider;
    this.constructorOf = options.constructorOf;
    this.optionalSyntax = options.optionalSyntax;
    this.crossTypeComparison = options.crossTypeComparison;
    this.checks = options.checks;
    this.#container = options.container;
    this.#makeTable = makeTable ?? (() => implementationsOf(options.functions.values()));
    const { variables, provider, types, container } = options;
    this.scope = new Scope({ names: variables, provider, types, container });
  }

  static of(
    libraries: readonly Library[],
    options: {
      readonly optionalSyntax: boolean;
      readonly crossTypeComparison: boolean;
      readonly checks: LiteralChecks;
    },
  ): Environment {
    return new Environment({
      ...options,
      ...gather(libraries),
      variables: new Map(),
      provider: wellKnownTypes,
      constructorOf: () => undefined,
      container: "",
    });
  }

  /** Returns an environment that declares more. */
  extend(declared: Declared): Environment {
    const { libraries = [], provider, constructorOf } = declared;
    const gathered = gather(libraries, this);
    return new Environment(
      {
        ...gathered,
        variables: new Map([...this.variables, ...(declared.variables ?? [])]),
        provider: provider === undefined ? this.provider : joinProviders(provider, this.provider),
        constructorOf:
          constructorOf === undefined ? this.constructorOf : (name) => constructorOf(name) ?? this.constructorOf(name),
        container: declared.container ?? this.#container,
        optionalSyntax: this.optionalSyntax,
        crossTypeComparison: this.crossTypeComparison,
        checks: this.checks,
      },
      libraries.length === 0 ? () => this.#table() : undefined,
    );
  }

  implementation(name: string): Implementation | undefined {
    return this.#table().get(name);
  }

  candidates(name: string): string[] {
    return candidateNames(this.#container, name);
  }

  #table(): ReadonlyMap<string, Implementation> {
    this.#implementations ??= this.#makeTable();
    return this.#implementations;
  }
}

function gather(libraries: readonly Library[], base?: Environment) {
  if (libraries.length === 0 && base !== undefined) {
    return { functions: base.functions, macros: base.macros, types: base.types };
  }
  const functions = new Map(base?.functions);
  const macros = new Map<string, Macro>(base?.macros);
  const types = new Map(base?.types);
  for (const library of libraries) {
    mergeFunctions(functions, library.functions ?? []);
    for (const [key, macro] of library.macros ?? []) macros.set(key, macro);
    for (const type of library.types ?? []) types.set(type.name, type);
  }
  return { functions, macros, types };
}
