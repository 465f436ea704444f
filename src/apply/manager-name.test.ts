import { expect, test } from "bun:test";
import { managerName } from "./manager-name.ts";

test("a write is recorded under its field manager, else under the program that made it", () => {
  expect(managerName("me", "kubectl/v1.36")).toBe("me");
  expect(managerName("", "kubectl/v1.36 (linux)")).toBe("kubectl");
  expect(managerName("", undefined)).toBe("unknown");
  expect(managerName("", "/x")).toBe("unknown");
});

test("unprintable characters are left out, and the name ends at 128 bytes", () => {
  expect(managerName("", asHeader("a\u0000b\u00a0c d\u2028/1"))).toBe("abc d");
  expect(managerName("", asHeader("é".repeat(100)))).toBe("é".repeat(64));
});

/** A text as a header carries it: one character for each byte. */
function asHeader(text: string): string {
  return Buffer.from(text).toString("latin1");
}
