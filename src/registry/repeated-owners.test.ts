import { expect, test } from "bun:test";
import { dropRepeatedOwners } from "./repeated-owners.ts";

function owner(uid: string, name = "o") {
  return { apiVersion: "v1", kind: "ConfigMap", name, uid };
}

test.each([
  [[owner("1"), owner("2")], [owner("1"), owner("2")], []],
  [[owner("1"), owner("1", "other")], [owner("1"), owner("1", "other")], []],
  [[owner("1"), owner("2"), owner("1"), owner("1")], [owner("1"), owner("2")], ["1, 1"]],
])("of %j only the first of each stays", (ownerReferences, kept, repeated) => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ownerReferences } };
  const warnings: string[] = [];
  dropRepeatedOwners(object, (text) => warnings.push(text), "");
  expect(object.metadata.ownerReferences).toEqual(kept);
  expect(warnings).toEqual(
    repeated.map(
      (uids) =>
        `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`,
    ),
  );
});
