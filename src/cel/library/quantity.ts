import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  nanosPerUnit,
  parseQuantity,
  type Quantity,
  QuantityError,
} from "../../api/quantity.ts";
import type { Library } from "../environment.ts";
import { boolType, type CelType, doubleType, intType, stringType, structOf } from "../types/cel-type.ts";
import { type FunctionDeclaration, member, overload } from "../types/declarations.ts";
import { EvaluationError, isError, noSuchOverload, OpaqueValue, type Result, type Value } from "../values/value.ts";
import { addForms, integerOf, type QuantityForm, readForm } from "./quantity-form.ts";

export const quantityType = structOf("kubernetes.Quantity");

export class QuantityValue extends OpaqueValue {
  readonly quantity: Quantity;
  readonly form: QuantityForm;
  /** The text that it was read from; undefined if it is a sum or a difference. */
  readonly source: string | undefined;

  constructor(quantity: Quantity, form: QuantityForm, source?: string) {
    super();
    this.quantity = quantity;
    this.form = form;
    this.source = source;
  }

  get isComputed(): boolean {
    return this.source === undefined;
  }

  get type(): CelType {
    return quantityType;
  }

  /** Upstream cannot compare anything to a computed quantity, only a computed quantity to others. */
  equals(other: Value): Result {
    const isComparable = other instanceof QuantityValue && !other.isComputed;
    return isComparable ? this.quantity.nanos === other.quantity.nanos : noSuchOverload;
  }

  get text(): string {
    const isKept = this.source !== undefined && this.form.keepsText;
    return isKept ? this.source : formatQuantity(this.quantity);
  }
}

/** Amounts with units: `quantity("1.5Gi").isGreaterThan(quantity("1G"))`. */
export const quantityLibrary: Library = {
  functions: [
    {
      name: "quantity",
      overloads: [overload("string_to_quantity", [stringType], quantityType, { unary: toQuantity })],
    },
    {
      name: "isQuantity",
      overloads: [
        overload("is_quantity_string", [stringType], boolType, { unary: (text) => !isError(toQuantity(text)) }),
      ],
    },
    {
      name: "sign",
      overloads: [
        overload("quantity_sign", [quantityType], intType, { unary: of(({ quantity }) => signOf(quantity.nanos)) }),
      ],
    },
    compares("isGreaterThan", "quantity_is_greater_than", boolType, (order) => order > 0),
    compares("isLessThan", "quantity_is_less_than", boolType, (order) => order < 0),
    compares("compareTo", "quantity_compare_to", intType, (order) => BigInt(order)),
    {
      name: "asApproximateFloat",
      overloads: [
        member("quantity_get_float", [quantityType], doubleType, {
          unary: of(({ quantity }) => Number(quantity.nanos) / 1e9),
        }),
      ],
    },
    {
      name: "asInteger",
      overloads: [
        member("quantity_get_int", [quantityType], intType, {
          unary: of(({ form }) => integerOf(form) ?? new EvaluationError("cannot convert value to integer")),
        }),
      ],
    },
    {
      name: "isInteger",
      overloads: [
        member("quantity_is_integer", [quantityType], boolType, {
          unary: of(({ form }) => integerOf(form) !== undefined),
        }),
      ],
    },
    adds("add", 1n),
    adds("sub", -1n),
  ],
};

function of(read: (value: QuantityValue) => Result): (value: Value) => Result {
  return (value) => (value instanceof QuantityValue ? read(value) : noSuchOverload);
}

function signOf(nanos: bigint): bigint {
  return nanos === 0n ? 0n : nanos > 0n ? 1n : -1n;
}

export function toQuantity(text: Value): Result {
  if (typeof text !== "string") return noSuchOverload;
  try {
    const complete = withDigits(text);
    return new QuantityValue(parseQuantity(complete), readForm(complete), text);
  } catch (error) {
    if (error instanceof QuantityError) return new EvaluationError(error.message);
    throw error;
  }
}

/** Upstream reads a number without digits as zero: `Ki`, `-`, `.`. */
function withDigits(text: string): string {
  const sign = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
  const next = text.charAt(text.charAt(sign) === "." ? sign + 1 : sign);
  const hasDigits = text === "" || (next >= "0" && next <= "9");
  return hasDigits ? text : `${text.slice(0, sign)}0${text.slice(sign)}`;
}

function compares(name: string, id: string, result: CelType, make: (order: number) => Result): FunctionDeclaration {
  const binary = (a: Value, b: Value): Result =>
    a instanceof QuantityValue && b instanceof QuantityValue
      ? make(compareQuantities(a.quantity, b.quantity))
      : noSuchOverload;
  return { name, overloads: [member(id, [quantityType, quantityType], result, { binary })] };
}

function adds(name: "add" | "sub", factor: bigint): FunctionDeclaration {
  const sum = (a: Value, other: Quantity, form: QuantityForm): Result => {
    if (!(a instanceof QuantityValue)) return noSuchOverload;
    const total = addQuantities(a.quantity, { ...other, nanos: other.nanos * factor });
    return new QuantityValue(total, addForms(a.form, form, factor));
  };
  return {
    name,
    overloads: [
      member(`quantity_${name}`, [quantityType, quantityType], quantityType, {
        binary: (a, b) => (b instanceof QuantityValue ? sum(a, b.quantity, b.form) : noSuchOverload),
      }),
      member(`quantity_${name}_int`, [quantityType, intType], quantityType, {
        binary: (a, b) => {
          if (typeof b !== "bigint") return noSuchOverload;
          const form = { amount: { value: b, scale: 0 }, keepsText: false };
          return sum(a, { nanos: b * nanosPerUnit, format: "decimalExponent" }, form);
        },
      }),
    ],
  };
}
