const formatted: ReadonlyMap<string, string> = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

/** Matches texts without anything to escape, which are most. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Quotes a text as Go's `%q` does. */
export function quoteText(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let quoted = "";
  for (const character of text) quoted += formatted.get(character) ?? printable(character);
  return `"${quoted}"`;
}

function printable(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  if (/^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character)) return character;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Escapes the special characters of a string literal and keeps the others. */
export function quoteLiteral(text: string): string {
  let quoted = "";
  for (const character of text) {
    const isLoneSurrogate = character.length === 1 && (character.charCodeAt(0) & 0xf800) === 0xd800;
    quoted += isLoneSurrogate ? "\ufffd" : (formatted.get(character) ?? character);
  }
  return `"${quoted}"`;
}

/** Smallest exponent that is written as one. */
const exponentFormMin = 6;

/** Writes a double as Go's `%g` and `%v` do: the shortest digits, an exponent where that is 6 or more, or below -4. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < exponentFormMin) return plainDecimal(value);
  const sign = exponent < 0 ? "-" : "+";
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Writes a double with the shortest digits and no exponent. */
export function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  const [mantissa = "", exponentText = "0"] = text.split("e");
  const isNegative = mantissa.startsWith("-");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const exponent = Number(exponentText);
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const sign = isNegative ? "-" : "";
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits.padEnd(point, "0")}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
