const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "-eq": (a, b) => a === b,
  "-ne": (a, b) => a !== b,
  "-lt": (a, b) => a < b,
  "-le": (a, b) => a <= b,
  "-gt": (a, b) => a > b,
  "-ge": (a, b) => a >= b,
};
const wholeNumber = /^-?[0-9]{1,15}$/;

/** Returns whether a condition of `test` holds; undefined for one that is not known. */
export function evaluateTest(words: readonly string[], hasFile: (path: string) => boolean): boolean | undefined {
  const isNegated = words.length > 1 && words[0] === "!";
  const holds = evaluate(isNegated ? words.slice(1) : words, hasFile);
  return holds === undefined || !isNegated ? holds : !holds;
}

function evaluate(words: readonly string[], hasFile: (path: string) => boolean): boolean | undefined {
  const [first = "", second = "", third = ""] = words;
  switch (words.length) {
    case 0:
      return false;
    case 1:
      return first !== "";
    case 2:
      if (first === "-n") return second !== "";
      if (first === "-z") return second === "";
      return ["-e", "-f", "-r"].includes(first) ? hasFile(second) : undefined;
    case 3:
      if (second === "=" || second === "==") return first === third;
      if (second === "!=") return first !== third;
      if (!wholeNumber.test(first) || !wholeNumber.test(third)) return undefined;
      return comparisons[second]?.(Number(first), Number(third));
    default:
      return undefined;
  }
}
