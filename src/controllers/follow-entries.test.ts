import { expect, test } from "bun:test";
import { followEntries } from "./follow-entries.ts";
import { ControllerTest } from "./testing.ts";

test("existing objects are reported as they are by then, and later changes as they come", async () => {
  await using objects = await ControllerTest.open();
  const resource = "configmaps";
  const configMap = (name: string) => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace: "n" } });
  const prefix = objects.registry(resource).info.keyPrefix;
  for (const name of ["a", "b"]) await objects.create(resource, configMap(name));
  const seen: string[] = [];
  {
    using _following = followEntries({ ...objects, prefix }, ({ key }, type) => {
      seen.push(`${type} ${key.slice(prefix.length)}`);
    });
    await objects.delete(resource, "b");
    await objects.pass();
    await objects.create(resource, configMap("c"));
    expect(seen.toSorted()).toEqual(["ADDED n/a", "ADDED n/c", "DELETED n/b"]);
  }
  await objects.create(resource, configMap("d"));
  expect(seen).toHaveLength(3);
  expect(objects.errors).toEqual([]);
});
