import type { RE2JS } from "re2js";
import { compilePattern, PatternError } from "../../api/re2-pattern.ts";
import { EvaluationError, noSuchOverload, type Result, type Value } from "../values/value.ts";

/** Reports whether a text has a match of a pattern anywhere. */
export function matchPattern(text: Value, pattern: Value): Result {
  if (typeof text !== "string" || typeof pattern !== "string") return noSuchOverload;
  return withPattern(pattern, "", (compiled) => compiled.test(text));
}

export function withPattern(pattern: string, errorPrefix: string, use: (compiled: RE2JS) => Result): Result {
  let compiled: RE2JS;
  try {
    compiled = compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return new EvaluationError(errorPrefix + error.message);
    throw error;
  }
  return use(compiled);
}
