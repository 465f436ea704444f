import { codePointCount } from "../../api/code-points.ts";
import { FormatValue } from "../library/format.ts";
import { spendWork } from "../limits.ts";
import { itemsOf } from "../values/lists.ts";
import { entriesOf } from "../values/maps.ts";
import { isError, List, OpaqueValue, Optional, type Result, ValueMap } from "../values/value.ts";
import {
  authorizationCheckCost,
  listCreationCost,
  patternLengthFactor,
  requirementCost,
  requirementsPerCharacter,
  textTraversalFactor,
} from "./factors.ts";

/** The cost of a call: a number, or made of its arguments and its result. */
export type CallCost = number | ((args: readonly Result[], result: Result) => number);

/** Returns the size that a value is charged by. */
export function costSize(value: Result | undefined): number {
  if (typeof value === "string") return codePointCount(value);
  if (value instanceof List || value instanceof ValueMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof OpaqueValue) return value.costSize;
  if (value instanceof Optional && value.content !== undefined) return costSize(value.content);
  return 1;
}

/** Charges for reading one argument, times a factor, rounded up. */
function traversal(position: number, factor = 1): CallCost {
  return (args) => Math.ceil(costSize(args[position]) * factor * textTraversalFactor);
}

const patternCost: CallCost = (args) =>
  Math.ceil((1 + costSize(args[0])) * textTraversalFactor) * Math.ceil(costSize(args[1]) * patternLengthFactor);

function comparisonCost(args: readonly Result[]): number {
  return Math.ceil(Math.min(costSize(args[0]), costSize(args[1])) * textTraversalFactor);
}

const elementsCost: CallCost = (args) => (args[0] === undefined ? 0 : deepTraversal(args[0]));

const selectorCost: CallCost = (args) => {
  const length = costSize(args[1]);
  const requirements = Math.ceil(length * requirementsPerCharacter);
  return listCreationCost + Math.ceil(length * textTraversalFactor) + requirements * requirementCost;
};

const equalityCost: CallCost = (args) => (args[0] instanceof OpaqueValue ? 1 : comparisonCost(args));

const unit: CallCost = 1;

/** By name of the function, in all libraries. */
const byFunction: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ["check", authorizationCheckCost],
  ["fieldSelector", selectorCost],
  ["labelSelector", selectorCost],
  ...["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"].map((name) => [name, elementsCost] as const),
  ...["url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"].map(
    (name) => [name, traversal(0)] as const,
  ),
  ...["cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"].map(
    (name) => [name, traversal(0)] as const,
  ),
  ["replace", traversal(0, 2)],
  ["split", traversal(0, 2)],
  ["ip.isCanonical", traversal(0, 2)],
  ["join", (_, result) => Math.ceil(costSize(result) * 2 * textTraversalFactor)],
  ["find", patternCost],
  ["findAll", patternCost],
  ["validate", validationCost],
  ["_==_", equalityCost],
]);

/** By overload, where the function has others that cost something else. */
const byOverload: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ["cidr_ip", unit],
  ["starts_with_string", traversal(0)],
  ["ends_with_string", traversal(0)],
  ["string_to_bytes", traversal(0)],
  ["bytes_to_string", traversal(0)],
  ["strings_quote", traversal(0)],
  ["string_format", traversal(0)],
  ["in_list", (args) => costSize(args[1])],
  ...["less", "greater", "less_equals", "greater_equals"].flatMap((name) => [
    [`${name}_string`, comparisonCost] as const,
    [`${name}_bytes`, comparisonCost] as const,
  ]),
  ["not_equals", comparisonCost],
  ["add_string", joinedCost],
  ["add_bytes", joinedCost],
  ["matches_string", patternCost],
  [
    "contains_string",
    (args) => Math.ceil(costSize(args[0]) * textTraversalFactor) * Math.ceil(costSize(args[1]) * textTraversalFactor),
  ],
  ["list_slice", (_, result) => 1 + listCreationCost + costSize(result)],
  ["lists_range", (_, result) => 1 + listCreationCost + costSize(result)],
  ["list_reverse", (_, result) => 1 + listCreationCost + costSize(result)],
  ["list_flatten", (args) => 1 + listCreationCost + costSize(args[0])],
  ["list_flatten_int", flattenCost],
  ["list_distinct", (args) => selfComparisonCost(args[0])],
  ["list_sets_contains_list", (args) => 1 + costSize(args[0]) * costSize(args[1])],
  ["list_sets_intersects_list", (args) => 1 + costSize(args[0]) * costSize(args[1])],
  ["list_sets_equivalent_list", (args) => 1 + 2 * costSize(args[0]) * costSize(args[1])],
]);

/** Returns the cost of a call. The overload is empty if the values choose it. */
export function callCost(functionName: string, overloadId: string): CallCost {
  if (functionName === "containsIP") return containsAddressCost(overloadId === "cidr_contains_ip_string");
  if (functionName === "containsCIDR") return containsNetworkCost(overloadId === "cidr_contains_cidr_string");
  if (/^list_[\w.]+_sort$/.test(overloadId)) return (args) => selfComparisonCost(args[0]);
  if (/^list_[\w.]+_sortByAssociatedKeys$/.test(overloadId)) return (args) => selfComparisonCost(args[1]);
  if (overloadId === "cidr_ip") return unit;
  return byFunction.get(functionName) ?? byOverload.get(overloadId) ?? unit;
}

function joinedCost(args: readonly Result[]): number {
  return Math.ceil((costSize(args[0]) + costSize(args[1])) * textTraversalFactor);
}

function flattenCost(args: readonly Result[]): number {
  const depth = args[1];
  return Math.trunc(costSize(args[0]) * (typeof depth === "bigint" ? Number(depth) : 1)) + 1 + listCreationCost;
}

function selfComparisonCost(list: Result | undefined): number {
  const size = costSize(list);
  const first = list instanceof List && list.size > 0 ? list.at(0) : undefined;
  const isText = typeof first === "string" || first instanceof Uint8Array;
  return Math.trunc(size * size * (isText ? 2 + textTraversalFactor : 2)) + 1 + listCreationCost;
}

function validationCost([format, text]: readonly Result[]): number {
  if (!(format instanceof FormatValue)) return 1;
  const textCost = Math.ceil((1 + costSize(text)) * textTraversalFactor);
  return textCost * Math.ceil(format.patternSize * patternLengthFactor);
}

function containsAddressCost(parsesText: boolean): CallCost {
  return (args) => containmentCost(args, parsesText);
}

function containsNetworkCost(parsesText: boolean): CallCost {
  return (args) => containmentCost(args, parsesText) + Math.ceil(costSize(args[0]) * textTraversalFactor) + 1;
}

function containmentCost([network, other]: readonly Result[], parsesText: boolean): number {
  const parsing = parsesText ? Math.ceil(costSize(other) * textTraversalFactor) : 0;
  return Math.ceil(2 * costSize(network) * textTraversalFactor) + parsing;
}

/** Counts a value with all below it: 1 for a scalar, a tenth of a text's bytes, rounded down. */
function deepTraversal(value: Result): number {
  spendWork(1);
  if (typeof value === "string") return Math.floor(Buffer.byteLength(value) * textTraversalFactor);
  if (value instanceof Uint8Array) return Math.floor(value.length * textTraversalFactor);
  let cost = 0;
  if (value instanceof List) {
    for (const item of itemsOf(value)) cost += deepTraversal(item);
    return cost;
  }
  if (!(value instanceof ValueMap) || isError(value)) return 1;
  for (const [key, item] of entriesOf(value)) cost += deepTraversal(key) + deepTraversal(item);
  return cost;
}
