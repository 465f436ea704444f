import type { TokenKind } from "./lexer.ts";

/** The order in which upstream lists what it expected. */
const listed: readonly TokenKind[] = [
  "end",
  "==",
  "!=",
  "in",
  "<",
  "<=",
  ">=",
  ">",
  "&&",
  "||",
  "[",
  "]",
  "{",
  "}",
  "(",
  ")",
  ".",
  ",",
  "-",
  "!",
  "?",
  ":",
  "+",
  "*",
  "/",
  "%",
  "true",
  "false",
  "null",
  "float",
  "int",
  "uint",
  "string",
  "bytes",
  "identifier",
  "escaped",
];
const names: ReadonlyMap<TokenKind, string> = new Map([
  ["end", "<EOF>"],
  ["float", "NUM_FLOAT"],
  ["int", "NUM_INT"],
  ["uint", "NUM_UINT"],
  ["string", "STRING"],
  ["bytes", "BYTES"],
  ["identifier", "IDENTIFIER"],
  ["escaped", "ESC_IDENTIFIER"],
]);

export type TokenSet = ReadonlySet<TokenKind>;

export function setOf(...parts: readonly (TokenKind | TokenSet)[]): TokenSet {
  return new Set(parts.flatMap((part) => (typeof part === "string" ? [part] : [...part])));
}

/** Shows what was expected: `')'`, `{IDENTIFIER, ESC_IDENTIFIER}`. */
export function describeSet(set: TokenSet): string {
  const shown = listed.filter((kind) => set.has(kind)).map((kind) => names.get(kind) ?? `'${kind}'`);
  return shown.length === 1 ? (shown[0] ?? "") : `{${shown.join(", ")}}`;
}

export const numbers = setOf("int", "float");
/** The tokens that begin a term, after its signs. */
export const termStart = setOf(
  "[",
  "{",
  "(",
  ".",
  "-",
  "true",
  "false",
  "null",
  numbers,
  "uint",
  "string",
  "bytes",
  "identifier",
);
export const expressionStart = setOf(termStart, "!");
export const optionalStart = setOf(expressionStart, "?");
export const fieldName = setOf("identifier", "escaped");
export const fieldStart = setOf(fieldName, "?");
export const relationSigns = setOf("==", "!=", "in", "<", "<=", ">=", ">");
export const productSigns = setOf("*", "/", "%");
export const sumSigns = setOf("+", "-");
export const memberSigns = setOf(".", "[");
