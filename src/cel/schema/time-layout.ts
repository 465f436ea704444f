import { quoteText } from "../../api/go-literal.ts";
import { isDate } from "../values/time-text.ts";

interface Element {
  /** As Go writes it in layouts. */
  readonly layout: string;
  readonly pattern: RegExp;
  readonly name?: string;
  readonly max?: number;
}

const dateElements: readonly Element[] = [
  { layout: "2006", pattern: /^\d{4}/ },
  { layout: "-", pattern: /^-/ },
  { layout: "01", pattern: /^\d{2}/, name: "month", max: 12 },
  { layout: "-", pattern: /^-/ },
  { layout: "02", pattern: /^\d{2}/, name: "day" },
];
const timeElements: readonly Element[] = [
  { layout: "T", pattern: /^T/ },
  { layout: "15", pattern: /^\d{2}/, name: "hour", max: 23 },
  { layout: ":", pattern: /^:/ },
  { layout: "04", pattern: /^\d{2}/, name: "minute", max: 59 },
  { layout: ":", pattern: /^:/ },
  { layout: "05", pattern: /^\d{2}(?:[.,]\d+)?/, name: "second", max: 59 },
];

/** Returns Go's words for a text that is neither a date nor a date and time without a zone. */
export function goTimeError(text: string, kind: "date" | "date-time"): string {
  const elements = kind === "date" ? dateElements : [...dateElements, ...timeElements];
  const layout = elements.map((element) => element.layout).join("");
  let rest = text;
  for (const { layout: part, pattern, name, max } of elements) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined) {
      return `parsing time ${quoteText(text)} as ${quoteText(layout)}: cannot parse ${quoteText(rest)} as ${quoteText(part)}`;
    }
    const isOutOfRange =
      max !== undefined && (Number.parseInt(found, 10) > max || (name === "month" && found === "00"));
    if (isOutOfRange) return `parsing time ${quoteText(text)}: ${name} out of range`;
    rest = rest.slice(found.length);
  }
  if (rest !== "") return `parsing time ${quoteText(text)}: extra text: ${quoteText(rest)}`;
  const [year, month, day] = text.slice(0, 10).split("-").map(Number);
  const isReal = isDate({ year: year ?? 0, month: month ?? 0, day: day ?? 0 });
  return isReal ? "" : `parsing time ${quoteText(text)}: day out of range`;
}
