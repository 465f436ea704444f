import { expect, test } from "bun:test";
import { LineBuffer } from "./line-buffer.ts";

const long = "é".repeat(1_000);

test("contains the written text, whatever its size", () => {
  const out = new LineBuffer(4);
  const texts = ["", "a", "é", "aé\u{1f600}z", "x".repeat(80), "y".repeat(81), long, "\ud800", "\u007f\u0080"];
  for (const text of texts) {
    out.text(text);
    out.piece(Buffer.from(text));
    out.quoted(text);
  }
  const expected = texts.map((text) => `${text}${text}"${text}"`).join("");
  expect(out.toString()).toBe(Buffer.from(expected).toString());
  expect(out.length).toBe(Buffer.byteLength(expected));
  expect(out.content.equals(Buffer.from(expected))).toBe(true);
});

test("is cut at its end and loses its beginning", () => {
  const out = new LineBuffer(4);
  for (const text of ["one", "two", "three"]) out.text(text);
  out.cutTo(6);
  out.remove(3);
  expect(out.toString()).toBe("two");
  out.text("four");
  expect([out.toString(), out.toString(3)]).toEqual(["twofour", "four"]);
  out.remove();
  expect([out.length, out.toString()]).toEqual([0, ""]);
});

test("frees memory that something large needed", () => {
  const out = new LineBuffer(16);
  out.text(long);
  expect(out.content.buffer.byteLength).toBeGreaterThanOrEqual(2_000);
  out.remove();
  expect(out.content.buffer.byteLength).toBe(16);
});
