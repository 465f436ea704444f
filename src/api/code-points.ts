/** Returns the number of code points. */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--;
      at++;
    }
  }
  return count;
}

/** Reports whether every character is one code unit, so that indices need no translation. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xf800) === 0xd800) return false;
  }
  return true;
}

/** Reports whether a text has more bytes than this in UTF-8. A code unit has at most three, so short texts need no count. */
export function exceedsBytes(text: string, max: number): boolean {
  return text.length * 3 > max && Buffer.byteLength(text) > max;
}

/** Compares texts by code points, as bytes of UTF-8 compare. */
export function compareTexts(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    const leftIsSurrogate = left >= 0xd800 && left <= 0xdfff;
    const rightIsSurrogate = right >= 0xd800 && right <= 0xdfff;
    // A surrogate is half of a character that sorts above every single-unit one.
    if (leftIsSurrogate !== rightIsSurrogate) return leftIsSurrogate ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}
