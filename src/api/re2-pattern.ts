import type { RE2JS } from "re2js";
import { RecentMap } from "../process/recent-map.ts";
import { thrownText } from "../process/thrown-text.ts";

/** Limit of the compiled patterns that are kept, for expressions that compute the same pattern for every element. */
const patternsKeptMax = 256;
/** Length of the longest pattern that is kept; longer ones are compiled every time. */
const patternKeptLengthMax = 1_024;

/**
 * Limits of what is compiled, so that no pattern takes longer than some 20 ms. The size counts repetitions as often as they
 * are repeated.
 */
const patternLengthMax = 4_096;
const patternSizeMax = 30_000;
/** Size of a class of characters by property, which has hundreds of ranges. */
const propertySize = 100;
const tooLarge = "error parsing regexp: expression too large";

const kept = new RecentMap<string, RE2JS>(patternsKeptMax);
/** Loaded with the first pattern, to keep it out of the start of the server. */
let library: typeof import("re2js") | undefined;

/** Thrown for a pattern that is not an RE2 expression. The message is Go's. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PatternError";
  }
}

/**
 * Compiles an RE2 pattern, which matches in time linear to its input.
 * @throws PatternError
 */
export function compilePattern(pattern: string): RE2JS {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > patternLengthMax || sizeOf(pattern) > patternSizeMax) throw new PatternError(tooLarge);
  let compiled: RE2JS;
  try {
    library ??= require("re2js") as typeof import("re2js");
    compiled = library.RE2JS.compile(pattern);
  } catch (error) {
    throw new PatternError(goMessage(thrownText(error)));
  }
  if (pattern.length > patternKeptLengthMax) return compiled;
  kept.set(pattern, compiled);
  return compiled;
}

/** Completes a message: Go quotes the rest of the pattern after it, which is empty for this one. */
function goMessage(message: string): string {
  return message.endsWith("trailing backslash at end of expression") ? `${message}: \`\`` : message;
}

/** Returns about how many instructions a pattern compiles to. */
function sizeOf(pattern: string): number {
  let size = 0;
  /** Size of what a repetition repeats: the last character or group. */
  let last = 0;
  /** Sizes before each open group. */
  const around: number[] = [];
  const add = (part: number) => {
    last = part;
    size += part;
  };
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case "\\":
        at++;
        add(/[pP]/.test(pattern[at] ?? "") ? propertySize : 1);
        if (pattern[at + 1] === "{" && /[pPx]/.test(pattern[at] ?? "")) at = endOf(pattern, "}", at);
        else if (/[pP]/.test(pattern[at] ?? "")) at++;
        break;
      case "[": {
        const end = endOf(pattern, "]", at + 1);
        const properties = pattern.slice(at, end).split(/\\[pP]/).length - 1;
        add(1 + (end - at) + properties * propertySize);
        at = end;
        break;
      }
      case "(":
        around.push(size);
        size = 0;
        break;
      case ")": {
        const group = size;
        size = around.pop() ?? 0;
        add(group + 1);
        break;
      }
      case "{": {
        const [, least = "", most = ""] =
          /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(at, at + repetitionLengthMax)) ?? [];
        size += last * Math.max(0, Number(least) - 1, Number(most) - 1);
        break;
      }
      default:
        add(1);
    }
  }
  return around.reduce((sum, part) => sum + part, size);
}

/** Length of the longest `{n,m}` that can be valid. */
const repetitionLengthMax = 16;

function endOf(pattern: string, closing: string, from: number): number {
  const end = pattern.indexOf(closing, from + 1);
  return end < 0 ? pattern.length : end;
}
