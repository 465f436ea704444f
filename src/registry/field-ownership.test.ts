import { expect, test } from "bun:test";
import type { KubeObject } from "../api/object-meta.ts";
import { storedInfo } from "../api/scheme/resource.ts";
import { excludingNames } from "../apply/field-filter.ts";
import { Scheme } from "../kinds/scheme.ts";
import { FieldOwnership } from "./field-ownership.ts";

const scheme = Scheme.builtIn({ runtimeConfig: new Map() });
const versions = scheme.resources.filter(({ resource }) => resource === "horizontalpodautoscalers");
const info = storedInfo(versions[0] ?? failed());
const ownership = new FieldOwnership(versions, () => excludingNames("status"));

function failed(): never {
  throw new Error("there are no HorizontalPodAutoscalers");
}

function autoscaler(spec: object, metadata: object = {}): KubeObject {
  const { group, version, kind } = info;
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "a", ...metadata },
    spec,
  } as unknown as KubeObject;
}

test("a writer owns the fields of its own version, without those that its path cannot change", async () => {
  const version = versions.find((served) => served.version === "v1") ?? failed();
  const target = { kind: "Deployment", name: "a", apiVersion: "apps/v1" };
  const object = { ...autoscaler({ maxReplicas: 2, scaleTargetRef: target }), status: { desiredReplicas: 1 } };
  const entries = await ownership.afterUpdate(undefined, object as unknown as KubeObject, {
    manager: "a",
    subresource: "",
    version,
    nowMs: 0,
  });
  expect(entries).toMatchObject([{ manager: "a", operation: "Update", apiVersion: "autoscaling/v1" }]);
  expect(Object.keys(entries?.[0]?.fieldsV1 ?? {})).toEqual(["f:spec"]);
});

test("an owner in another version loses what is changed", async () => {
  const [v1, v2] = ["v1", "v2"].map((name) => versions.find(({ version }) => version === name) ?? failed());
  const writer = { subresource: "", nowMs: 0 };
  const live = autoscaler({ maxReplicas: 2 }, { uid: "u" });
  const first = await ownership.afterUpdate(undefined, autoscaler({ maxReplicas: 2 }), {
    ...writer,
    manager: "first",
    version: v1 ?? failed(),
  });
  live.metadata.managedFields = first ?? failed();
  const second = await ownership.afterUpdate(live, autoscaler({ maxReplicas: 3 }, { uid: "u" }), {
    ...writer,
    manager: "second",
    version: v2 ?? failed(),
  });
  expect(second?.map(({ manager }) => manager)).not.toContain("first");
});
