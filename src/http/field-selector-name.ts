/**
 * Returns the name in a selector's `metadata.name=x`, which authorization uses; undefined if there is none. Only the
 * first such term counts: the handler applies the whole selector, so the others only narrow it. A malformed selector has
 * no name, and the handler answers it with 400.
 */
export function pinnedName(fieldSelector: string): string | undefined {
  if (!fieldSelector.includes("metadata.name")) return undefined;
  let pinned: string | undefined;
  for (const term of splitTerms(fieldSelector)) {
    const parsed = parseTerm(term);
    if (parsed === undefined) return undefined;
    if (parsed.equals && parsed.field === "metadata.name") pinned ??= parsed.value;
  }
  return pinned;
}

function splitTerms(selector: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < selector.length; at++) {
    const char = selector[at];
    if (char === "\\") at++;
    else if (char === ",") {
      terms.push(selector.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(selector.slice(start));
  return terms.filter((term) => term !== "");
}

interface Term {
  readonly field: string;
  readonly equals: boolean;
  readonly value: string;
}

function parseTerm(term: string): Term | undefined {
  for (let at = 0; at < term.length; at++) {
    const rest = term.slice(at, at + 2);
    if (rest === "!=") return termOf(term.slice(0, at), false, term.slice(at + 2));
    if (rest === "==") return termOf(term.slice(0, at), true, term.slice(at + 2));
    if (rest[0] === "=") return termOf(term.slice(0, at), true, term.slice(at + 1));
  }
  return undefined;
}

function termOf(field: string, equals: boolean, escaped: string): Term | undefined {
  let value = "";
  for (let at = 0; at < escaped.length; at++) {
    let char = escaped[at] as string;
    if (char === "=") return undefined;
    if (char === "\\") {
      char = escaped[++at] ?? "";
      if (char !== "\\" && char !== "," && char !== "=") return undefined;
    }
    value += char;
  }
  return { field, equals, value };
}
