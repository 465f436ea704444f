import {
  type CelType,
  dynType,
  isDeclaredAssignable,
  isDynamic,
  listOf,
  mapOf,
  opaqueOf,
  sameType,
  typeOf,
} from "./cel-type.ts";

/**
 * The known types of the type variables of one expression. A trial that fails leaves no trace: changes are noted in
 * order and taken back.
 */
export class TypeBindings {
  readonly #bound = new Map<string, CelType>();
  readonly #undo: { readonly name: string; readonly before: CelType | undefined }[] = [];

  /** Reports whether `from` can be assigned to `to`, and binds type variables accordingly. */
  assign(to: CelType, from: CelType): boolean {
    return this.#attempt(() => this.#isAssignable(to, from));
  }

  assignAll(to: readonly CelType[], from: readonly CelType[]): boolean {
    return this.#attempt(() => this.#areAssignable(to, from));
  }

  /** Returns the type with its bound variables replaced. Free ones become dyn if `freeToDyn` is set. */
  resolve(type: CelType, freeToDyn: boolean): CelType {
    switch (type.kind) {
      case "param": {
        const bound = this.#bound.get(type.name);
        if (bound !== undefined) return this.resolve(bound, freeToDyn);
        return freeToDyn ? dynType : type;
      }
      case "opaque":
        if (type.parameters.length === 0) return type;
        return opaqueOf(type.name, ...type.parameters.map((parameter) => this.resolve(parameter, freeToDyn)));
      case "list":
        return listOf(this.resolve(type.first, freeToDyn));
      case "map":
        return mapOf(this.resolve(type.first, freeToDyn), this.resolve(type.second, freeToDyn));
      case "type":
        return type.parameters.length === 0 ? type : typeOf(this.resolve(type.first, freeToDyn));
      default:
        return type;
    }
  }

  #attempt(trial: () => boolean): boolean {
    const mark = this.#undo.length;
    if (trial()) return true;
    while (this.#undo.length > mark) {
      const change = this.#undo.pop();
      if (change === undefined) break;
      if (change.before === undefined) this.#bound.delete(change.name);
      else this.#bound.set(change.name, change.before);
    }
    return false;
  }

  #bind(name: string, type: CelType): void {
    this.#undo.push({ name, before: this.#bound.get(name) });
    this.#bound.set(name, type);
  }

  #isAssignable(a: CelType, b: CelType): boolean {
    if (b.kind === "param") {
      const { valid, wasBound } = this.#substitute(a, b);
      if (valid) return true;
      if (wasBound) return false;
    }
    if (a.kind === "param") return this.#substitute(b, a).valid;
    if (isDynamic(a) || a.kind === "error" || isDynamic(b) || b.kind === "error") return true;
    if (a.kind === "null") return acceptsNull(b);
    if (b.kind === "null") return acceptsNull(a);
    switch (a.kind) {
      case "type":
        return b.kind === "type";
      case "opaque":
      case "list":
      case "map":
        return a.kind === b.kind && a.name === b.name && this.#areAssignable(a.parameters, b.parameters);
      default:
        return isDeclaredAssignable(b, a);
    }
  }

  #areAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    return a.length === b.length && a.every((type, at) => this.#isAssignable(type, b[at] ?? dynType));
  }

  #substitute(type: CelType, variable: CelType): { readonly valid: boolean; readonly wasBound: boolean } {
    if (sameType(type, variable)) return { valid: true, wasBound: true };
    const bound = this.#bound.get(variable.name);
    if (bound !== undefined) {
      if (sameType(type, bound)) return { valid: true, wasBound: true };
      if (!this.#isAssignable(type, bound)) return { valid: false, wasBound: true };
      const general = mostGeneral(type, bound);
      if (!this.#mentions(general, variable)) this.#bind(variable.name, general);
      return { valid: true, wasBound: true };
    }
    if (this.#mentions(type, variable)) return { valid: false, wasBound: false };
    this.#bind(variable.name, type);
    return { valid: true, wasBound: false };
  }

  #mentions(type: CelType, variable: CelType): boolean {
    if (sameType(variable, type)) return true;
    if (type.kind === "param") {
      const bound = this.#bound.get(type.name);
      return bound !== undefined && this.#mentions(bound, variable);
    }
    return type.kind !== "struct" && type.parameters.some((parameter) => this.#mentions(parameter, variable));
  }
}

/** Returns the wider of two types, one of which is assignable to the other. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrWider(a, b) ? a : b;
}

function isEqualOrWider(a: CelType, b: CelType): boolean {
  if (isDynamic(a) || a.kind === "param") return true;
  if (isDynamic(b) || b.kind === "param" || a.kind !== b.kind) return false;
  switch (a.kind) {
    case "opaque":
    case "list":
    case "map":
      return (
        a.name === b.name &&
        a.parameters.length === b.parameters.length &&
        a.parameters.every((parameter, at) => isEqualOrWider(parameter, b.parameters[at] ?? dynType))
      );
    case "type":
      return true;
    default:
      return sameType(a, b);
  }
}

function acceptsNull(type: CelType): boolean {
  switch (type.kind) {
    case "opaque":
    case "struct":
    case "any":
    case "duration":
    case "timestamp":
    case "null":
    case "dyn":
    case "param":
      return true;
    default:
      return type.nullable;
  }
}
