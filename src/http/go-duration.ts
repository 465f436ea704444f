const unitMs = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** Milliseconds of a duration as Go writes it (`1m30s`, `500ms`, `0`, `-1.5h`); undefined when malformed. */
export function parseGoDuration(text: string): number | undefined {
  const negative = text.startsWith("-");
  let at = negative || text.startsWith("+") ? 1 : 0;
  if (text.slice(at) === "0") return 0;
  if (at === text.length) return undefined;
  let total = 0;
  while (at < text.length) {
    const numberEnd = skip(text, at, isNumberChar);
    const unitEnd = skip(text, numberEnd, (char) => !isNumberChar(char));
    const digits = text.slice(at, numberEnd);
    const unit = unitMs.get(text.slice(numberEnd, unitEnd));
    if (unit === undefined || digits === "" || digits === "." || digits.indexOf(".") !== digits.lastIndexOf(".")) {
      return undefined;
    }
    total += Number(digits) * unit;
    at = unitEnd;
  }
  return negative ? -total : total;
}

function isNumberChar(char: string): boolean {
  return (char >= "0" && char <= "9") || char === ".";
}

function skip(text: string, from: number, matches: (char: string) => boolean): number {
  let at = from;
  while (at < text.length && matches(text[at] as string)) at++;
  return at;
}
