import { status } from "./status.ts";

/** Limit of the terms of a selector; more are rejected with 400, because matching costs terms × objects. */
export const fieldTermsMax = 1_000;

export interface FieldTerm {
  /** Label as the client wrote it, e.g. `metadata.name`. The parser does not know which labels a resource has. */
  readonly label: string;
  readonly operator: "=" | "!=";
  /** Value without escapes. */
  readonly value: string;
}

/** A conjunction of terms; without terms it selects every object. */
export interface FieldSelector {
  readonly terms: readonly FieldTerm[];
}

export const everyField: FieldSelector = { terms: [] };

/**
 * Parses `metadata.name=x,status.phase!=Failed`. In a value, `\`, `,` and `=` are escaped with a backslash. A term with
 * neither label nor value selects every object.
 * @throws StatusError 400 with upstream's text
 */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === "") return everyField;
  const parts = splitTerms(text).filter((part) => part !== "");
  if (parts.length > fieldTermsMax) {
    throw status.badRequest(`invalid field selector: too many terms: must have at most ${fieldTermsMax}`);
  }
  const terms = parts.sort().map((part) => parseTerm(part, text));
  return { terms: terms.filter(({ label, value }) => label !== "" || value !== "") };
}

/** Returns the value of `label` that the selector requires of every object, if it requires one. */
export function requireFieldValue(selector: FieldSelector, label: string): string | undefined {
  return selector.terms.find((term) => term.operator === "=" && term.label === label)?.value;
}

/** Reports whether an object is selected; `read` returns the value of a field, `""` if it is not set. */
export function matchesFields(selector: FieldSelector, read: (label: string) => string): boolean {
  for (const { label, operator, value } of selector.terms) {
    if ((read(label) === value) !== (operator === "=")) return false;
  }
  return true;
}

/** Formats a selector canonically; parsing the text gives an equal selector. */
export function fieldSelectorText(selector: FieldSelector): string {
  return selector.terms.map(({ label, operator, value }) => `${label}${operator}${escapeValue(value)}`).join(",");
}

function splitTerms(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === ",") {
      parts.push(text.slice(start, at));
      start = at + 1;
      if (parts.length > fieldTermsMax) break;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Splits a term at its first operator, because labels contain none. */
function parseTerm(part: string, whole: string): FieldTerm {
  for (let at = 0; at < part.length; at++) {
    if (part.startsWith("!=", at)) return term(part.slice(0, at), "!=", part.slice(at + 2));
    if (part.startsWith("==", at)) return term(part.slice(0, at), "=", part.slice(at + 2));
    if (part[at] === "=") return term(part.slice(0, at), "=", part.slice(at + 1));
  }
  throw status.badRequest(`invalid selector: '${whole}'; can't understand '${part}'`);
}

function term(label: string, operator: "=" | "!=", escaped: string): FieldTerm {
  return { label, operator, value: unescapeValue(escaped) };
}

function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, (char) => `\\${char}`);
}

function unescapeValue(escaped: string): string {
  let value = "";
  let start = 0;
  for (let at = 0; at < escaped.length; at++) {
    const char = escaped[at] as string;
    if (char === "," || char === "=") {
      throw status.badRequest(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    }
    if (char !== "\\") continue;
    const next = escaped[at + 1];
    if (next !== "\\" && next !== "," && next !== "=") {
      throw status.badRequest(`invalid field selector: invalid escape sequence: \\${next ?? ""}`);
    }
    value += escaped.slice(start, at) + next;
    at++;
    start = at + 1;
  }
  return value + escaped.slice(start);
}
