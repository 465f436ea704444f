/** Size of the document in a JSON text, and whether its numbers are simple. */
export interface JsonExtent {
  /** Upper bound of the number of scalars, lists and objects. */
  readonly values: number;
  /** Number of members of all objects. */
  readonly members: number;
  /** Depth to which lists and objects nest. */
  readonly depth: number;
  /** True if every number is short enough to be exact and has no exponent. */
  readonly hasPlainNumbers: boolean;
}

/** Numbers of this length are exact, whether integers or not. */
const plainCharactersMax = 15;

const quote = 0x22;
const comma = 0x2c;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const upperE = 0x45;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const lowerE = 0x65;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Measures a JSON text in one pass without building anything. The native parser cannot stop half way, so too large a
 * document must be rejected before it. Malformed text is measured too, without meaning.
 */
export function jsonExtent(text: string): JsonExtent {
  let values = 1;
  let members = 0;
  let depth = 0;
  let deepest = 0;
  let hasPlainNumbers = true;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case comma:
        values++;
        break;
      case colon:
        members++;
        break;
      case openBracket:
      case openBrace:
        // An empty one has no first value.
        if (!isClosing(text.charCodeAt(at + 1))) values++;
        if (++depth > deepest) deepest = depth;
        break;
      case closeBracket:
      case closeBrace:
        depth--;
        break;
      default:
        if (isDigit(text.charCodeAt(at))) {
          const start = at;
          while (isOfNumber(text.charCodeAt(at + 1))) at++;
          hasPlainNumbers &&= at - start < plainCharactersMax && !isExponent(text.charCodeAt(at + 1));
        }
    }
  }
  return { values, members, depth: deepest, hasPlainNumbers };
}

function isDigit(character: number): boolean {
  return character >= zero && character <= nine;
}

function isOfNumber(character: number): boolean {
  return isDigit(character) || character === dot;
}

function isExponent(character: number): boolean {
  return character === lowerE || character === upperE;
}

/** Returns the index of the closing quote, or the end of the text if it is missing. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

function isClosing(character: number): boolean {
  return character === closeBracket || character === closeBrace;
}
