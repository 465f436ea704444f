export type TokenKind =
  | "=="
  | "!="
  | "in"
  | "<"
  | "<="
  | ">="
  | ">"
  | "&&"
  | "||"
  | "["
  | "]"
  | "{"
  | "}"
  | "("
  | ")"
  | "."
  | ","
  | "-"
  | "!"
  | "?"
  | ":"
  | "+"
  | "*"
  | "/"
  | "%"
  | "true"
  | "false"
  | "null"
  | "float"
  | "int"
  | "uint"
  | "string"
  | "bytes"
  | "identifier"
  | "escaped"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly offset: number;
}

/** A stretch of text that is part of no token. */
export interface LexicalError {
  readonly text: string;
  readonly offset: number;
}

export interface Tokens {
  readonly tokens: readonly Token[];
  readonly errors: readonly LexicalError[];
}

const doubleSigns: ReadonlySet<string> = new Set(["==", "!=", "<=", ">=", "&&", "||"]);
const secondSigns: ReadonlySet<string> = new Set("=&|");
const singleSigns: ReadonlySet<string> = new Set("<>[]{}().,-!?:+*/%");
const keywords: ReadonlySet<string> = new Set(["in", "true", "false", "null"]);

const slash = 0x2f;
/** Nothing is read after more errors. */
export const lexicalErrorsMax = 100;

/** Splits an expression into tokens, with the longest match at each place. Blanks and comments are left out. */
export function tokenize(text: string): Tokens {
  const tokens: Token[] = [];
  const errors: LexicalError[] = [];
  let at = 0;
  while (at < text.length && errors.length <= lexicalErrorsMax) {
    const blank = skipBlank(text, at);
    if (blank > at) {
      at = blank;
      continue;
    }
    const token = readToken(text, at);
    if (token !== undefined) {
      tokens.push(token);
      at += token.text.length;
      continue;
    }
    const length = unreadableLength(text, at);
    errors.push({ text: text.slice(at, at + length), offset: at });
    at += length;
  }
  tokens.push({ kind: "end", text: "<EOF>", offset: text.length });
  return { tokens, errors };
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at++;
  if (text.charCodeAt(at) === slash && text.charCodeAt(at + 1) === slash) {
    const end = text.indexOf("\n", at);
    return end < 0 ? text.length : end;
  }
  return at;
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b);
}

function readToken(text: string, at: number): Token | undefined {
  const first = text.charAt(at);
  if (isLetter(first)) return readQuoted(text, at) ?? readWord(text, at);
  if (first === '"' || first === "'") return readQuoted(text, at);
  if (first === "`") return readEscaped(text, at);
  const number = first === "." || isDigit(first) ? readNumber(text, at) : undefined;
  if (number !== undefined) return number;
  if (secondSigns.has(text.charAt(at + 1))) {
    const two = text.slice(at, at + 2);
    if (doubleSigns.has(two)) return { kind: two as TokenKind, text: two, offset: at };
  }
  return singleSigns.has(first) ? { kind: first as TokenKind, text: first, offset: at } : undefined;
}

function readWord(text: string, at: number): Token {
  const word = text.slice(at, wordEnd(text, at));
  return { kind: keywords.has(word) ? (word as TokenKind) : "identifier", text: word, offset: at };
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character.length === 1;
}

function isHexDigit(character: string): boolean {
  return isDigit(character) || (character >= "a" && character <= "f") || (character >= "A" && character <= "F");
}

function isLetter(character: string): boolean {
  return (character >= "a" && character <= "z") || (character >= "A" && character <= "Z") || character === "_";
}

function wordEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && (isLetter(text.charAt(at)) || isDigit(text.charAt(at)))) at++;
  return at;
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charAt(at))) at++;
  return at;
}

function readNumber(text: string, at: number): Token | undefined {
  const whole = digitsEnd(text, at);
  if (text.charAt(at) === "0" && text.charAt(at + 1) === "x" && isHexDigit(text.charAt(at + 2))) {
    let end = at + 2;
    while (isHexDigit(text.charAt(end))) end++;
    return numberToken(text, at, end, false);
  }
  let end = whole;
  let isFloat = false;
  if (text.charAt(whole) === "." && isDigit(text.charAt(whole + 1))) {
    end = digitsEnd(text, whole + 1);
    isFloat = true;
  }
  if (end === at) return undefined;
  const exponent = exponentEnd(text, end);
  if (exponent > end) return numberToken(text, at, exponent, true);
  return numberToken(text, at, end, isFloat);
}

function exponentEnd(text: string, at: number): number {
  if (text.charAt(at) !== "e" && text.charAt(at) !== "E") return at;
  const sign = text.charAt(at + 1) === "+" || text.charAt(at + 1) === "-" ? 1 : 0;
  const end = digitsEnd(text, at + 1 + sign);
  return end > at + 1 + sign ? end : at;
}

function numberToken(text: string, at: number, end: number, isFloat: boolean): Token {
  if (isFloat) return { kind: "float", text: text.slice(at, end), offset: at };
  if (text.charAt(end) === "u" || text.charAt(end) === "U") {
    return { kind: "uint", text: text.slice(at, end + 1), offset: at };
  }
  return { kind: "int", text: text.slice(at, end), offset: at };
}

function readEscaped(text: string, at: number): Token | undefined {
  let end = at + 1;
  for (; end < text.length; end++) {
    const character = text.charAt(end);
    if (!isLetter(character) && !isDigit(character) && !".-/ ".includes(character)) break;
  }
  if (end === at + 1 || text.charAt(end) !== "`") return undefined;
  return { kind: "escaped", text: text.slice(at, end + 1), offset: at };
}

function readQuoted(text: string, at: number): Token | undefined {
  const open = quoteStart(text, at);
  if (open === undefined) return undefined;
  const triple = quotedEnd(text, open.quoteAt, open.isRaw, 3);
  const end = triple ?? quotedEnd(text, open.quoteAt, open.isRaw, 1);
  if (end === undefined) return undefined;
  return { kind: open.isBytes ? "bytes" : "string", text: text.slice(at, end), offset: at };
}

interface QuoteStart {
  readonly quoteAt: number;
  readonly isRaw: boolean;
  readonly isBytes: boolean;
}

function quoteStart(text: string, start: number): QuoteStart | undefined {
  let at = start;
  const isBytes = text.charAt(at) === "b" || text.charAt(at) === "B";
  if (isBytes) at++;
  const isRaw = text.charAt(at) === "r" || text.charAt(at) === "R";
  if (isRaw) at++;
  const quote = text.charAt(at);
  return quote === '"' || quote === "'" ? { quoteAt: at, isRaw, isBytes } : undefined;
}

/** Returns the end of the text that is quoted with one or three marks at `start`, if it ends. */
function quotedEnd(text: string, start: number, isRaw: boolean, marks: 1 | 3): number | undefined {
  const mark = text.charAt(start).repeat(marks);
  if (!text.startsWith(mark, start)) return undefined;
  let at = start + marks;
  while (at < text.length) {
    if (text.startsWith(mark, at)) return at + marks;
    const character = text.charAt(at);
    if (marks === 1 && (character === "\n" || character === "\r")) return undefined;
    if (character === "\\" && !isRaw) {
      const length = escapeLength(text, at);
      if (length === undefined) return undefined;
      at += length;
    } else {
      at++;
    }
  }
  return undefined;
}

/** Returns the length of the escape sequence at `at`, if it is one. */
function escapeLength(text: string, at: number): number | undefined {
  const next = text.charAt(at + 1);
  if (next !== "" && "abfnrtv\"'\\?`".includes(next)) return 2;
  if (next === "x" || next === "X") return hexEscape(text, at, 2);
  if (next === "u") return hexEscape(text, at, 4);
  if (next === "U") return hexEscape(text, at, 8);
  const octal = text.slice(at + 1, at + 4);
  return /^[0-3][0-7][0-7]$/.test(octal) ? 4 : undefined;
}

function hexEscape(text: string, at: number, digits: number): number | undefined {
  for (let index = 0; index < digits; index++) {
    if (!isHexDigit(text.charAt(at + 2 + index))) return undefined;
  }
  return 2 + digits;
}

/** Returns how much is skipped where no token begins: as far as one might have begun, and the character after it. */
function unreadableLength(text: string, at: number): number {
  const open = quoteStart(text, at);
  let end = at;
  if (open !== undefined) {
    end = unclosedEnd(text, open.quoteAt, open.isRaw);
  } else if (text.charAt(at) === "`") {
    end = at + 1;
    while (end < text.length && /[A-Za-z0-9_.\-/ ]/.test(text.charAt(end))) end++;
  } else if ("&|=".includes(text.charAt(at))) {
    end = at + 1;
  }
  if (end >= text.length) return text.length - at;
  const next = text.codePointAt(end) ?? 0;
  return end - at + (next > 0xffff ? 2 : 1);
}

function unclosedEnd(text: string, quoteAt: number, isRaw: boolean): number {
  const mark = text.charAt(quoteAt);
  const isTriple = text.startsWith(mark.repeat(3), quoteAt);
  let at = quoteAt + (isTriple ? 3 : 1);
  while (at < text.length) {
    const character = text.charAt(at);
    if (!isTriple && (character === "\n" || character === "\r")) return at;
    if (character === "\\" && !isRaw) {
      const length = escapeLength(text, at);
      if (length === undefined) return partialEscapeEnd(text, at);
      at += length;
    } else {
      at++;
    }
  }
  return at;
}

/** Returns where an escape sequence stops being one. */
function partialEscapeEnd(text: string, at: number): number {
  const next = text.charAt(at + 1);
  const digits = next === "x" || next === "X" ? 2 : next === "u" ? 4 : next === "U" ? 8 : 0;
  if (digits > 0) {
    let end = at + 2;
    while (end < at + 2 + digits && isHexDigit(text.charAt(end))) end++;
    return end;
  }
  if (next >= "0" && next <= "3" && next.length === 1) {
    const second = text.charAt(at + 2);
    return second >= "0" && second <= "7" && second.length === 1 ? at + 3 : at + 2;
  }
  return at + 1;
}
