const firstSurrogate = 0xd800;
const afterSurrogates = 0xe000;

/** The order of the texts' UTF-8 bytes, which differs from that of their UTF-16 units beyond U+D7FF. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  return byteRank(a.charCodeAt(at)) - byteRank(b.charCodeAt(at));
}

/** Half of a surrogate pair belongs to a code point above those of all single units. */
function byteRank(unit: number): number {
  return unit >= firstSurrogate && unit < afterSurrogates ? unit + 0x10000 : unit;
}
