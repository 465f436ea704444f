import { RE2JS } from "re2js";

/** Limit of the compiled patterns that are kept, for expressions that compute the same pattern for every element. */
const patternsKeptMax = 256;
/** Length of the longest pattern that is kept; longer ones are compiled every time. */
const patternKeptLengthMax = 1_024;

const kept = new Map<string, RE2JS>();

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
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    throw new PatternError(goMessage(error instanceof Error ? error.message : String(error)));
  }
  if (pattern.length > patternKeptLengthMax) return compiled;
  if (kept.size >= patternsKeptMax) kept.delete(kept.keys().next().value ?? "");
  kept.set(pattern, compiled);
  return compiled;
}

/** Completes a message: Go quotes the rest of the pattern after it, which is empty for this one. */
function goMessage(message: string): string {
  return message.endsWith("trailing backslash at end of expression") ? `${message}: \`\`` : message;
}
