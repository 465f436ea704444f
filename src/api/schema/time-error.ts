import { quoteTimeText } from "../go-time-quote.ts";

/**
 * First difference between a layout and a text: the rest of the text, and the element of the layout that it does not
 * match.
 */
interface Mismatch {
  readonly rest: string;
  readonly element: string;
}
type Step = (rest: string) => string | Mismatch | OutOfRange;
interface OutOfRange {
  readonly outOfRange: string;
}

const dateAndTime: readonly Step[] = [
  digits("2006", 4),
  literal("-"),
  digits("01", 2, { name: "month", min: 1, max: 12 }),
  literal("-"),
  digits("02", 2),
  literal("T"),
  digits("15", 2, { name: "hour", min: 0, max: 23 }),
  literal(":"),
  digits("04", 2, { name: "minute", min: 0, max: 59 }),
  literal(":"),
  digits("05", 2, { name: "second", min: 0, max: 59 }),
];

/**
 * Explains in Go's words why a text does not match its time layout: `parsing time "x" as "2006-…": cannot parse "x" as "2006"`.
 * @param text is known not to be such a time
 * @param fraction the layout's element of the fraction, as `.000000`; "" when any fraction will do
 */
export function timeErrorText(text: string, fraction: "" | ".000000"): string {
  const layout = `2006-01-02T15:04:05${fraction}Z07:00`;
  let rest = text;
  for (const step of [...dateAndTime, fraction === "" ? anyFraction : exactFraction(fraction), zone]) {
    const result = step(rest);
    if (typeof result === "string") rest = result;
    else if ("outOfRange" in result) return `parsing time ${quoteTimeText(text)}: ${result.outOfRange} out of range`;
    else {
      const { rest: found, element } = result;
      return `parsing time ${quoteTimeText(text)} as ${quoteTimeText(layout)}: cannot parse ${quoteTimeText(found)} as ${quoteTimeText(element)}`;
    }
  }
  // Every element matched: either text is left over, or the month has no such day.
  const why = rest === "" ? "day out of range" : `extra text: ${quoteTimeText(rest)}`;
  return `parsing time ${quoteTimeText(text)}: ${why}`;
}

function literal(element: string): Step {
  return (rest) => (rest.startsWith(element) ? rest.slice(element.length) : { rest, element });
}

function digits(element: string, count: number, range?: { name: string; min: number; max: number }): Step {
  return (rest) => {
    const found = rest.slice(0, count);
    if (found.length < count || !/^\d+$/.test(found)) return { rest, element };
    const isOutside = range !== undefined && (Number(found) < range.min || Number(found) > range.max);
    return isOutside ? { outOfRange: range.name } : rest.slice(count);
  };
}

function anyFraction(rest: string): string {
  return rest.replace(/^\.\d+/, "");
}

function exactFraction(element: string): Step {
  return (rest) => (/^\.\d{6}/.test(rest) ? rest.slice(element.length) : { rest, element });
}

function zone(rest: string): string | Mismatch | OutOfRange {
  if (rest.startsWith("Z")) return rest.slice(1);
  const [whole = "", hours, minutes] = /^[+-](\d\d):(\d\d)/.exec(rest) ?? [];
  if (whole === "") return { rest, element: "Z07:00" };
  if (Number(hours) > 23) return { outOfRange: "time zone offset hour" };
  return Number(minutes) > 59 ? { outOfRange: "time zone offset minute" } : rest.slice(whole.length);
}
