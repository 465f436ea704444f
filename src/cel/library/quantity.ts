import type { Library } from "../environment.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
} from "../../api/quantity.ts";
import { boolType, type CelType, doubleType, intType, stringType, structOf } from "../types/cel-type.ts";
import { type FunctionDeclaration, member, overload } from "../types/declarations.ts";
import { EvaluationError, isError, noSuchOverload, OpaqueValue, type Result, type Value } from "../values/value.ts";

export const quantityType = structOf("kubernetes.Quantity");
const nanosPerUnit = 1_000_000_000n;
const signedMin = -(2n ** 63n);
const signedMax = 2n ** 63n - 1n;

export class QuantityValue extends OpaqueValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  get type(): CelType {
    return quantityType;
  }

  equals(other: Value): Result {
    return other instanceof QuantityValue ? this.quantity.nanos === other.quantity.nanos : noSuchOverload;
  }

  get text(): string {
    return formatQuantity(this.quantity);
  }
}

/** Amounts with units: `quantity("1.5Gi").isGreaterThan(quantity("1G"))`. */
export const quantityLibrary: Library = {
  functions: [
    { name: "quantity", overloads: [overload("string_to_quantity", [stringType], quantityType, { unary: toQuantity })] },
    {
      name: "isQuantity",
      overloads: [overload("is_quantity_string", [stringType], boolType, { unary: (text) => !isError(toQuantity(text)) })],
    },
    {
      name: "sign",
      overloads: [overload("quantity_sign", [quantityType], intType, { unary: of(({ nanos }) => signOf(nanos)) })],
    },
    compares("isGreaterThan", "quantity_is_greater_than", boolType, (order) => order > 0),
    compares("isLessThan", "quantity_is_less_than", boolType, (order) => order < 0),
    compares("compareTo", "quantity_compare_to", intType, (order) => BigInt(order)),
    {
      name: "asApproximateFloat",
      overloads: [
        member("quantity_get_float", [quantityType], doubleType, { unary: of(({ nanos }) => Number(nanos) / 1e9) }),
      ],
    },
    {
      name: "asInteger",
      overloads: [
        member("quantity_get_int", [quantityType], intType, {
          unary: of((quantity) => wholeOf(quantity) ?? new EvaluationError("cannot convert value to integer")),
        }),
      ],
    },
    {
      name: "isInteger",
      overloads: [
        member("quantity_is_integer", [quantityType], boolType, {
          unary: of((quantity) => wholeOf(quantity) !== undefined),
        }),
      ],
    },
    adds("add", 1n),
    adds("sub", -1n),
  ],
};

function of(read: (quantity: Quantity) => Result): (value: Value) => Result {
  return (value) => (value instanceof QuantityValue ? read(value.quantity) : noSuchOverload);
}

function signOf(nanos: bigint): bigint {
  return nanos === 0n ? 0n : nanos > 0n ? 1n : -1n;
}

export function toQuantity(text: Value): Result {
  if (typeof text !== "string") return noSuchOverload;
  try {
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityError) return new EvaluationError(error.message);
    throw error;
  }
}

/** Returns the amount if it is whole and fits 64 bits. */
function wholeOf({ nanos }: Quantity): bigint | undefined {
  const units = nanos / nanosPerUnit;
  return nanos % nanosPerUnit === 0n && units >= signedMin && units <= signedMax ? units : undefined;
}

function compares(
  name: string,
  id: string,
  result: CelType,
  make: (order: number) => Result,
): FunctionDeclaration {
  const binary = (a: Value, b: Value): Result =>
    a instanceof QuantityValue && b instanceof QuantityValue
      ? make(compareQuantities(a.quantity, b.quantity))
      : noSuchOverload;
  return { name, overloads: [member(id, [quantityType, quantityType], result, { binary })] };
}

function adds(name: "add" | "sub", factor: bigint): FunctionDeclaration {
  const sum = (a: Value, other: Quantity): Result => {
    if (!(a instanceof QuantityValue)) return noSuchOverload;
    return new QuantityValue(addQuantities(a.quantity, { ...other, nanos: other.nanos * factor }));
  };
  return {
    name,
    overloads: [
      member(`quantity_${name}`, [quantityType, quantityType], quantityType, {
        binary: (a, b) => (b instanceof QuantityValue ? sum(a, b.quantity) : noSuchOverload),
      }),
      member(`quantity_${name}_int`, [quantityType, intType], quantityType, {
        binary: (a, b) =>
          typeof b === "bigint" ? sum(a, { nanos: b * nanosPerUnit, format: "decimalExponent" }) : noSuchOverload,
      }),
    ],
  };
}
