import type { Value } from "../values/value.ts";
import { type CelType, intType, typeOf } from "./cel-type.ts";
import { namedTypes, type TypeProvider } from "./type-provider.ts";

/** The meaning of a name. */
export interface Named {
  readonly name: string;
  readonly type: CelType;
  /** The value of a constant. */
  readonly constant?: Value;
}

/** The constants of the messages that are part of the language. */
const constants: ReadonlyMap<string, Named> = new Map([
  [
    "google.protobuf.NullValue.NULL_VALUE",
    { name: "google.protobuf.NullValue.NULL_VALUE", type: intType, constant: 0n },
  ],
]);

/** The names that an expression may use at one place: those of enclosing loops, variables, and types. */
export class Scope {
  /** The prefix that names may leave out; Kubernetes has none. */
  readonly container: string;
  readonly #names: ReadonlyMap<string, CelType>;
  readonly #provider: TypeProvider;
  readonly #types: ReadonlyMap<string, CelType>;
  readonly #outer: Scope | undefined;

  constructor(options: {
    readonly names: ReadonlyMap<string, CelType>;
    readonly provider: TypeProvider;
    /** Types of libraries that may be named. */
    readonly types: ReadonlyMap<string, CelType>;
    readonly container?: string;
    readonly outer?: Scope;
  }) {
    this.container = options.container ?? "";
    this.#names = options.names;
    this.#provider = options.provider;
    this.#types = options.types;
    this.#outer = options.outer;
  }

  with(names: ReadonlyMap<string, CelType>): Scope {
    const { container } = this;
    return new Scope({ names, provider: this.#provider, types: this.#types, container, outer: this });
  }

  find(name: string): Named | undefined {
    for (const candidate of candidateNames(this.container, name)) {
      const type = this.#variable(candidate) ?? this.#type(candidate);
      if (type !== undefined) return { name: candidate, type };
      const constant = constants.get(candidate);
      if (constant !== undefined) return constant;
    }
    return undefined;
  }

  #variable(name: string): CelType | undefined {
    const type = this.#names.get(name);
    if (type !== undefined || this.#outer === undefined) return type;
    return this.#outer.#variable(name);
  }

  #type(name: string): CelType | undefined {
    const type = namedTypes.get(name) ?? this.#types.get(name) ?? this.#provider.findStruct(name);
    return type === undefined ? undefined : typeOf(type);
  }
}

/** Returns the full names that a name may refer to, the most specific first. */
export function candidateNames(container: string, name: string): string[] {
  if (name.startsWith(".")) return [name.slice(1)];
  if (container === "") return [name];
  const names: string[] = [];
  for (let prefix = container; prefix !== ""; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf(".")))) {
    names.push(`${prefix}.${name}`);
  }
  return [...names, name];
}
