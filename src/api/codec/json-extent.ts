/** Size of the document in a JSON text. */
export interface JsonExtent {
  /** Upper bound of the number of scalars, lists and objects. */
  readonly values: number;
  /** Depth to which lists and objects nest. */
  readonly depth: number;
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Measures a JSON text in one pass without building anything. The native parser cannot stop half way, so too large a
 * document must be rejected before it. Malformed text is measured too, without meaning.
 */
export function jsonExtent(text: string): JsonExtent {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case comma:
        values++;
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
    }
  }
  return { values, depth: deepest };
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
