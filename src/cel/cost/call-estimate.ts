import type { Expr } from "../syntax/ast.ts";
import type { CelType } from "../types/cel-type.ts";
import {
  authorizationCheckCost,
  formatPatternSizeMax,
  formatSizeMax,
  listCreationCost,
  patternLengthFactor,
  requirementCost,
  requirementsPerCharacter,
  textTraversalFactor,
} from "./factors.ts";
import {
  addRanges,
  fixed,
  multiplyRanges,
  type Range,
  scale,
  union,
  unitRange,
  unknownSize,
  unsignedMax,
  wrapped,
} from "./range.ts";
import type { SizeLookup } from "./size-lookup.ts";

/** An operand of a call, with what is known of it. */
export interface Operand {
  readonly expr: Expr;
  readonly type: CelType;
  /** Empty if it comes from no variable. */
  readonly path: readonly string[];
  readonly size: Range | undefined;
}

/** The cost of a call without its arguments, and the size of its result. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range | undefined;
}

interface Call {
  readonly overload: string;
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
  readonly lookup: SizeLookup;
}

type Estimate = (call: Call) => CallEstimate | undefined;

/** Returns the estimate of a function that the libraries know; undefined for those of the language. */
export function estimateCall(
  name: string,
  overload: string,
  target: Operand | undefined,
  args: readonly Operand[],
  lookup: SizeLookup,
): CallEstimate | undefined {
  const call: Call = { overload, target, args, lookup };
  return byOverload.get(overload)?.(call) ?? byFunction.get(name)?.(call);
}

function sizeOf(operand: Operand | undefined, lookup: SizeLookup): Range {
  if (operand === undefined) return unknownSize;
  if (operand.size !== undefined) return operand.size;
  return (operand.path.length === 0 ? undefined : lookup(operand.path)) ?? unknownSize;
}

const unit: Estimate = () => ({ cost: unitRange });

/** Charges for reading the first argument. */
function reading(factor: number, keepsSize: boolean): Estimate {
  return ({ args, lookup }) => {
    const size = sizeOf(args[0], lookup);
    const cost = scale(size, factor * textTraversalFactor);
    return keepsSize ? { cost, size } : { cost };
  };
}

const readingTarget: Estimate = ({ target, lookup }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target, lookup);
  return { cost: scale(size, textTraversalFactor), size };
};

const searching: Estimate = ({ target, args, lookup }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target, lookup);
  const text = scale(addRanges(size, unitRange), textTraversalFactor);
  const pattern = scale(sizeOf(args[0], lookup), patternLengthFactor);
  return { cost: multiplyRanges(text, pattern), size: { min: 0n, max: size.max } };
};

const selecting: Estimate = ({ args, lookup }) => {
  const length = sizeOf(args[0], lookup);
  const requirements = scale(scale(length, requirementsPerCharacter), requirementCost);
  return { cost: addRanges(fixed(listCreationCost), scale(length, textTraversalFactor), requirements) };
};

/** Charges for every element of a list once, or for a text. */
const traversing: Estimate = ({ target, lookup }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target, lookup);
  const [element] = target.type.parameters;
  if (element === undefined) return { cost: scale(size, textTraversalFactor) };
  return { cost: multiplyRanges(size, elementCost(target, element, lookup)) };
};

function elementCost(list: Operand, element: CelType, lookup: SizeLookup): Range {
  if (element.kind !== "string" && element.kind !== "bytes") return unitRange;
  return addRanges(unitRange, scale(elementSize(list, lookup), textTraversalFactor));
}

function elementSize(list: Operand, lookup: SizeLookup): Range {
  const path = [...list.path, "@items"];
  return (list.path.length === 0 ? undefined : lookup(path)) ?? unknownSize;
}

const replacing: Estimate = ({ target, args, lookup }) => {
  if (target === undefined || args.length < 2) return undefined;
  const size = sizeOf(target, lookup);
  const old = sizeOf(args[0], lookup);
  const replacement = sizeOf(args[1], lookup);
  const most = replacedMost(size.max, old.min, replacement.max);
  const least = replacedMost(size.min, old.max, replacement.min, true);
  const count = { min: least.count, max: most.count };
  const kept = { min: least.kept, max: most.kept };
  return {
    cost: scale(size, 2 * textTraversalFactor),
    size: addRanges(multiplyRanges(count, replacement), kept),
  };
};

/** Returns the maximum (or minimum) number of replacements, and how much of the text remains. */
function replacedMost(size: bigint, old: bigint, replacement: bigint, isLeast = false) {
  if (old === 0n) return { count: size < unsignedMax ? size + 1n : size, kept: size };
  const shrinks = isLeast ? old <= replacement : replacement <= old;
  if (shrinks) return { count: 0n, kept: size };
  return { count: BigInt(Math.ceil(Number(size) / Number(old))), kept: 0n };
}

const splitting: Estimate = ({ target, args, lookup }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target, lookup);
  const limit = args[1]?.expr;
  const isFixed = limit?.kind === "literal" && typeof limit.value === "bigint";
  const max = isFixed && typeof limit.value === "bigint" ? wrapped(limit.value) : size.max;
  return { cost: scale(size, 2 * textTraversalFactor), size: { min: 0n, max } };
};

const joining: Estimate = ({ target, args, lookup }) => {
  if (target === undefined) return undefined;
  const count = sizeOf(target, lookup);
  const hasElements = target.type.parameters.length > 0;
  let size: Range = hasElements ? multiplyRanges(count, elementSize(target, lookup)) : { min: 0n, max: 0n };
  if (args.length > 0) {
    const separators = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n };
    size = addRanges(size, multiplyRanges(sizeOf(args[0], lookup), separators));
  }
  return { cost: scale(size, textTraversalFactor), size };
};

const addressSize: Range = { min: 4n, max: 16n };
const addressComparison = scale(addRanges(addressSize, addressSize), textTraversalFactor);

const containingAddress: Estimate = ({ overload, args, lookup }) => {
  if (overload !== "cidr_contains_ip_string") return { cost: addressComparison };
  return { cost: addRanges(addressComparison, scale(sizeOf(args[0], lookup), textTraversalFactor)) };
};

const containingNetwork: Estimate = ({ overload, args, lookup }) => {
  const comparison = addRanges(addressComparison, scale(addressSize, textTraversalFactor), unitRange);
  if (overload !== "cidr_contains_cidr_string") return { cost: comparison };
  return { cost: addRanges(comparison, scale(sizeOf(args[0], lookup), textTraversalFactor)) };
};

const validating: Estimate = ({ args, lookup }) => ({
  cost: scale(scale(sizeOf(args[0], lookup), textTraversalFactor), formatPatternSizeMax * patternLengthFactor),
});

/** Types whose values compare in one step. */
const unitEquality: ReadonlySet<string> = new Set([
  "net.IP",
  "net.CIDR",
  "kubernetes.Quantity",
  "kubernetes.Semver",
  ...["Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision"].map(
    (name) => `kubernetes.authorization.${name}`,
  ),
]);

const comparing: Estimate = ({ args: [left, right] }) => {
  if (left === undefined || right === undefined || left.type.name !== right.type.name) return undefined;
  const { name } = left.type;
  if (unitEquality.has(name)) return { cost: unitRange };
  if (name === "kubernetes.NamedFormat") {
    return { cost: scale({ min: 1n, max: BigInt(formatSizeMax) }, textTraversalFactor) };
  }
  if (name !== "kubernetes.URL") return undefined;
  // Upstream uses the size of the right side twice.
  const size = right.size === undefined ? unitRange : union(right.size, right.size);
  return { cost: scale({ min: 1n, max: size.max }, textTraversalFactor) };
};

function each(names: string, estimate: Estimate): (readonly [string, Estimate])[] {
  return names.split(" ").map((name) => [name, estimate] as const);
}

const byFunction: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ["check", () => ({ cost: fixed(authorizationCheckCost) })],
  ...each("serviceAccount path group resource subresource namespace name allowed reason error errored", unit),
  ...each("fieldSelector labelSelector", selecting),
  ...each("isSorted sum max min indexOf lastIndexOf", traversing),
  ...each("url jsonpatch.escapeKey", reading(1, true)),
  ...each("lowerAscii upperAscii substring trim", readingTarget),
  ["replace", replacing],
  ["split", splitting],
  ["join", joining],
  ...each("find findAll", searching),
  ...each("cidr isIP isCIDR quantity isQuantity semver isSemver", reading(1, false)),
  ["ip", (call) => (call.overload === "cidr_ip" ? { cost: unitRange } : reading(1, false)(call))],
  ["ip.isCanonical", reading(2, false)],
  ...each("masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast", unit),
  ...each("isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan", unit),
  ...each("compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery", unit),
  ["containsIP", containingAddress],
  ["containsCIDR", containingNetwork],
  ["validate", validating],
  ["_==_", comparing],
]);

function intLiteral(operand: Operand | undefined, otherwise: bigint): bigint {
  const expr = operand?.expr;
  if (expr?.kind !== "literal" || typeof expr.value !== "bigint") return otherwise;
  return expr.value < 0n ? 0n : expr.value;
}

/** Charges for a list that is made, in proportion to a size. */
function making(size: Range, factor: number): CallEstimate {
  return { cost: addRanges(scale(size, factor), unitRange, fixed(listCreationCost)), size };
}

function sorting(position: "target" | 0): Estimate {
  return ({ overload, target, args, lookup }) => {
    const size = sizeOf(position === "target" ? target : args[0], lookup);
    const isText = /^list_(?:string|bytes)_/.test(overload);
    return making(multiplyRanges(size, size), isText ? 2 + textTraversalFactor : 2);
  };
}

function comparingSets(factor: number): Estimate {
  return ({ args, lookup }) => {
    const pairs = multiplyRanges(sizeOf(args[0], lookup), sizeOf(args[1], lookup));
    return { cost: addRanges(scale(pairs, factor), unitRange) };
  };
}

const flattening: Estimate = ({ target, args, lookup }) => {
  const depth = args.length === 0 ? 1n : intLiteral(args[0], unsignedMax);
  return making(sizeOf(target, lookup), Number(depth));
};

const comparableNames = [
  "int",
  "uint",
  "double",
  "bool",
  "google.protobuf.Duration",
  "google.protobuf.Timestamp",
  "string",
  "bytes",
];

const byOverload: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  [
    "list_slice",
    ({ target, args, lookup }) => {
      const start = intLiteral(args[0], 0n);
      return making(fixed(wrapped(intLiteral(args[1], sizeOf(target, lookup).max) - start)), 1);
    },
  ],
  ["lists_range", ({ args }) => making(fixed(intLiteral(args[0], unsignedMax)), 1)],
  ["list_reverse", ({ target, lookup }) => making(sizeOf(target, lookup), 1)],
  ["list_flatten", flattening],
  ["list_flatten_int", flattening],
  [
    "list_distinct",
    ({ target, lookup }) => {
      const size = sizeOf(target, lookup);
      return making(multiplyRanges(size, size), 2);
    },
  ],
  ...comparableNames.map((name) => [`list_${name}_sort`, sorting("target")] as const),
  ...comparableNames.map((name) => [`list_${name}_sortByAssociatedKeys`, sorting(0)] as const),
  ["list_sets_contains_list", comparingSets(1)],
  ["list_sets_intersects_list", comparingSets(1)],
  ["list_sets_equivalent_list", comparingSets(2)],
]);
