import { expect, test } from "bun:test";
import { toRevision } from "../../api/revision.ts";
import { missingBelow } from "./raise-revision.ts";

test("an etcd is raised above the revisions that clients have seen", () => {
  expect(missingBelow(toRevision(100), toRevision(1))).toBe(100);
  expect(missingBelow(toRevision(100), toRevision(101))).toBe(0);
  expect(missingBelow(toRevision(100), toRevision(500))).toBe(0);
});

test("an etcd that is too far behind is refused with the command that raises it", () => {
  expect(() => missingBelow(toRevision(2_000_000), toRevision(1))).toThrow("--bump-revision 2000000 --mark-compacted");
});
