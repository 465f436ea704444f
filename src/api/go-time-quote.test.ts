import { expect, test } from "bun:test";
import { quoteTimeText } from "./go-time-quote.ts";

test.each([
  ["10:00", '"10:00"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ["été", '"\\xc3\\xa9t\\xc3\\xa9"'],
  ["a\n", '"a\\x0a"'],
  ["\u{1f600}", '"\\xf0\\x9f\\x98\\x80"'],
  ["\u007f", '"\u007f"'],
])("%p is quoted byte by byte", (text, expected) => expect(quoteTimeText(text)).toBe(expected));
