import { expect, test } from "bun:test";
import { parseMountPoints } from "./mount-table.ts";

test("parseMountPoints() reads paths with blanks", () => {
  const text = "22 1 0:21 / /proc rw - proc proc rw\n30 22 0:40 / /mnt/a\\040b\\134c rw shared:1 - tmpfs tmpfs rw\n";
  expect(parseMountPoints(text)).toEqual(["/proc", "/mnt/a b\\c"]);
});
