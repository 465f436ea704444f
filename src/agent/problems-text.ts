/** Joins problems as upstream joins errors: each once, and a single one without brackets. */
export function problemsText(problems: readonly string[]): string {
  const [first = "", ...others] = new Set(problems);
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`;
}
