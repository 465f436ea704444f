import { expect, test } from "bun:test";
import type { DiscoveredVersion } from "../../client/aggregation/discovered-version.ts";
import { FakeApis, servedApi } from "../aggregation/testing.ts";
import { apiGroupDiscoveryList } from "./aggregated-discovery.ts";
import { MergedDiscovery } from "./merged-discovery.ts";

const catalog = {
  groups: () => [
    { group: "", versions: ["v1"] },
    { group: "apps", versions: ["v1"] },
    { group: "stable.example", versions: ["v1"] },
    { group: "apiregistration.k8s.io", versions: ["v1"] },
  ],
  resources: () => [],
  generation: () => 1,
};
function discovered(apiVersion: string, freshness: DiscoveredVersion["freshness"]): DiscoveredVersion {
  const [group, version] = apiVersion.split("/") as [string, string];
  return { group, version, freshness, resources: [] };
}

function mergedOf(apis: FakeApis, ...versions: DiscoveredVersion[]) {
  return new MergedDiscovery({ catalog, apis, remote: { versions: () => versions, generation: () => 1 } });
}

const namesOf = (groups: readonly { group: string; versions: readonly string[] }[]) =>
  groups.map(({ group, versions }) => `${group}:${versions.join(",")}`);

test("groups of extension servers take their place by priority, whether they are available or not", () => {
  const apis = new FakeApis(
    servedApi("metrics.k8s.io/v1beta1", "a", { groupPriority: 100 }),
    servedApi("early.example/v2", "b", { groupPriority: 17_900, versionPriority: 10, isAvailable: false }),
    servedApi("early.example/v1", "b", { groupPriority: 200, versionPriority: 20 }),
  );
  expect(namesOf(mergedOf(apis).listed())).toEqual([
    "apiregistration.k8s.io:v1",
    ":v1",
    "early.example:v1,v2",
    "apps:v1",
    "stable.example:v1",
    "metrics.k8s.io:v1beta1",
  ]);
});

test("the aggregated form leaves out a version that nobody has asked for yet", () => {
  const apis = new FakeApis(servedApi("a.example/v1", "a"), servedApi("b.example/v1", "b"));
  const merged = mergedOf(apis, discovered("a.example/v1", "Stale"), discovered("b.example/v1", "Pending"));
  const named = merged.described().filter(({ group }) => group.endsWith(".example"));
  expect(namesOf(named)).toEqual(["a.example:v1", "stable.example:v1"]);
  expect(apiGroupDiscoveryList(named.slice(0, 1), merged)["items"]).toEqual([
    { metadata: { name: "a.example" }, versions: [{ version: "v1", freshness: "Stale" }] },
  ]);
});

test("groups of equal priority are ordered by the name of the APIService in one form, by that of the group in the other", () => {
  const apis = new FakeApis(servedApi("a.example/v2", "a"), servedApi("b.example/v1", "b"));
  const merged = mergedOf(apis, discovered("a.example/v2", "Current"), discovered("b.example/v1", "Current"));
  const isMeant = ({ group }: { group: string }) => group === "a.example" || group === "b.example";
  expect(namesOf(merged.listed().filter(isMeant))).toEqual(["b.example:v1", "a.example:v2"]);
  expect(namesOf(merged.described().filter(isMeant))).toEqual(["a.example:v2", "b.example:v1"]);
});
