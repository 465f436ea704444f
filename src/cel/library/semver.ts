import { compareTexts } from "../../api/code-points.ts";
import { quoteText } from "../../api/go-literal.ts";
import type { Library } from "../environment.ts";
import { boolType, type CelType, intType, stringType, structOf } from "../types/cel-type.ts";
import { type FunctionDeclaration, member, overload } from "../types/declarations.ts";
import { EvaluationError, isError, noSuchOverload, OpaqueValue, type Result, type Value } from "../values/value.ts";

const semverType = structOf("kubernetes.Semver");
const partMax = 2n ** 64n - 1n;

/** A version by semver.org. Numbers of a pre-release are numbers, and below its words. */
interface Version {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly prerelease: readonly (bigint | string)[];
  readonly build: readonly string[];
}

export class SemverValue extends OpaqueValue {
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  get type(): CelType {
    return semverType;
  }

  equals(other: Value): Result {
    return other instanceof SemverValue ? compareVersions(this.version, other.version) === 0 : noSuchOverload;
  }

  get text(): string {
    const { numbers, prerelease, build } = this.version;
    const pre = prerelease.length === 0 ? "" : `-${prerelease.join(".")}`;
    return `${numbers.join(".")}${pre}${build.length === 0 ? "" : `+${build.join(".")}`}`;
  }
}

/** Versions: `semver("1.2.3").isLessThan(semver("2.0.0"))`. */
export const semverLibrary: Library = {
  functions: [
    {
      name: "semver",
      overloads: [
        overload("string_to_semver", [stringType], semverType, { unary: (text) => toSemver(text, false) }),
        overload("string_bool_to_semver", [stringType, boolType], semverType, { binary: toSemver }),
      ],
    },
    {
      name: "isSemver",
      overloads: [
        overload("is_semver_string", [stringType], boolType, { unary: (text) => !isError(toSemver(text, false)) }),
        overload("is_semver_string_bool", [stringType, boolType], boolType, {
          binary: (text, normalize) => !isError(toSemver(text, normalize)),
        }),
      ],
    },
    compares("isGreaterThan", "semver_is_greater_than", boolType, (order) => order > 0),
    compares("isLessThan", "semver_is_less_than", boolType, (order) => order < 0),
    compares("compareTo", "semver_compare_to", intType, (order) => BigInt(order)),
    part("major", 0),
    part("minor", 1),
    part("patch", 2),
  ],
};

function compares(name: string, id: string, result: CelType, make: (order: number) => Result): FunctionDeclaration {
  const binary = (a: Value, b: Value): Result =>
    a instanceof SemverValue && b instanceof SemverValue ? make(compareVersions(a.version, b.version)) : noSuchOverload;
  return { name, overloads: [member(id, [semverType, semverType], result, { binary })] };
}

function part(name: string, index: 0 | 1 | 2): FunctionDeclaration {
  const unary = (value: Value): Result =>
    value instanceof SemverValue ? BigInt.asIntN(64, value.version.numbers[index]) : noSuchOverload;
  return { name, overloads: [member(`semver_${name}`, [semverType], intType, { unary })] };
}

class VersionError extends Error {}

function toSemver(text: Value, normalize: Value): Result {
  if (typeof text !== "string" || typeof normalize !== "boolean") return noSuchOverload;
  try {
    return new SemverValue(parseVersion(normalize ? normalized(text) : text));
  } catch (error) {
    if (error instanceof VersionError) return new EvaluationError(error.message);
    throw error;
  }
}

/** Cuts a text at the first two points. */
function threeParts(text: string): string[] {
  const first = text.indexOf(".");
  if (first < 0) return [text];
  const second = text.indexOf(".", first + 1);
  if (second < 0) return [text.slice(0, first), text.slice(first + 1)];
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

/** Drops a leading `v` and leading zeros, and fills in what is missing. */
function normalized(text: string): string {
  const parts = threeParts(text.startsWith("v") ? text.slice(1) : text).map((piece) => {
    if (piece.length <= 1) return piece;
    const stripped = piece.replace(/^0+/, "");
    return /^\d/.test(stripped) ? stripped : `0${stripped}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) {
    throw new VersionError("short version cannot contain PreRelease/Build meta data");
  }
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}

function parseVersion(text: string): Version {
  if (text === "") throw new VersionError("Version string empty");
  const [major, minor, rest] = threeParts(text);
  if (major === undefined || minor === undefined || rest === undefined) {
    throw new VersionError("No Major.Minor.Patch elements found");
  }
  const majorNumber = parseNumber(major, "Major", "major number");
  const minorNumber = parseNumber(minor, "Minor", "minor number");
  const plus = rest.indexOf("+");
  const build = plus < 0 ? [] : rest.slice(plus + 1).split(".");
  const core = plus < 0 ? rest : rest.slice(0, plus);
  const dash = core.indexOf("-");
  const prerelease = dash < 0 ? [] : core.slice(dash + 1).split(".");
  const patchNumber = parseNumber(dash < 0 ? core : core.slice(0, dash), "Patch", "patch number");
  return {
    numbers: [majorNumber, minorNumber, patchNumber],
    prerelease: prerelease.map(parsePrerelease),
    build: build.map(parseBuild),
  };
}

function parseNumber(text: string, name: string, place: string): bigint {
  if (!/^\d*$/.test(text)) throw new VersionError(`Invalid character(s) found in ${place} ${quoteText(text)}`);
  if (hasLeadingZero(text)) throw new VersionError(`${name} number must not contain leading zeroes ${quoteText(text)}`);
  return parseUnsigned(text);
}

function hasLeadingZero(text: string): boolean {
  return text.length > 1 && text.startsWith("0");
}

function parseUnsigned(text: string): bigint {
  const problem = (reason: string) => new VersionError(`strconv.ParseUint: parsing ${quoteText(text)}: ${reason}`);
  if (text === "") throw problem("invalid syntax");
  const value = text.length > 20 ? partMax + 1n : BigInt(text);
  if (value > partMax) throw problem("value out of range");
  return value;
}

function parsePrerelease(text: string): bigint | string {
  if (text === "") throw new VersionError("Prerelease is empty");
  if (/^\d+$/.test(text)) {
    if (hasLeadingZero(text)) {
      throw new VersionError(`Numeric PreRelease version must not contain leading zeroes ${quoteText(text)}`);
    }
    return parseUnsigned(text);
  }
  if (/^[0-9A-Za-z-]+$/.test(text)) return text;
  throw new VersionError(`Invalid character(s) found in prerelease ${quoteText(text)}`);
}

function parseBuild(text: string): string {
  if (text === "") throw new VersionError("Build meta data is empty");
  if (/^[0-9A-Za-z-]+$/.test(text)) return text;
  throw new VersionError(`Invalid character(s) found in build meta data ${quoteText(text)}`);
}

function compareVersions(a: Version, b: Version): -1 | 0 | 1 {
  for (const [at, number] of a.numbers.entries()) {
    const other = b.numbers[at] ?? 0n;
    if (number !== other) return number > other ? 1 : -1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    if (a.prerelease.length === b.prerelease.length) return 0;
    return a.prerelease.length === 0 ? 1 : -1;
  }
  for (const [at, word] of a.prerelease.entries()) {
    const other = b.prerelease[at];
    if (other === undefined) return 1;
    const order = compareWords(word, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length === b.prerelease.length ? 0 : -1;
}

function compareWords(a: bigint | string, b: bigint | string): -1 | 0 | 1 {
  if (typeof a === "bigint" && typeof b === "bigint") return a === b ? 0 : a > b ? 1 : -1;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  return typeof a === "bigint" ? -1 : 1;
}
