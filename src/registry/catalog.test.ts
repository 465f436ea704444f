import { expect, test } from "bun:test";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { Catalog, type CatalogEntry } from "./catalog.ts";
import { defaultStrategy } from "./default-strategy.ts";
import { stored } from "./kind.ts";

function entryOf(group: string, resource: string, ...versions: readonly string[]): CatalogEntry {
  const infos = versions.map((version) => {
    const keyPrefix = `/registry/${group}/${resource}/`;
    return { group, version, resource, kind: resource, keyPrefix } as unknown as ResourceInfo;
  });
  const kind = { group, resource, endpoint: stored(defaultStrategy), subresources: new Map() };
  return { kind, stored: infos[0], served: infos };
}

test("known groups and versions come first, all others by name and by preference", () => {
  const catalog = new Catalog([
    { group: "", versions: ["v1"] },
    { group: "known", versions: ["v2", "v3"] },
  ]);
  catalog.add(entryOf("b.example.com", "things", "v1alpha1", "v1", "v1beta1"));
  catalog.add(entryOf("a.example.com", "things", "v1"));
  catalog.add(entryOf("known", "things", "v4", "v3", "v2"));
  catalog.add(entryOf("known", "others", "v2"));
  expect(catalog.groups()).toEqual([
    { group: "known", versions: ["v2", "v3", "v4"] },
    { group: "a.example.com", versions: ["v1"] },
    { group: "b.example.com", versions: ["v1", "v1beta1", "v1alpha1"] },
  ]);
  expect(catalog.resources({ group: "known", version: "v2" }).map(({ resource }) => resource)).toEqual([
    "others",
    "things",
  ]);
  expect(catalog.all()).toHaveLength(8);
});

test("a follower is told about present entries, and later followers hear first of removals", () => {
  const catalog = new Catalog();
  const [first, second] = [entryOf("", "a", "v1"), entryOf("", "b", "v1")];
  const heard: string[] = [];
  const follow = (name: string) =>
    catalog.follow(
      ({ kind }) => heard.push(`${name} +${kind.resource}`),
      ({ kind }) => heard.push(`${name} -${kind.resource}`),
    );
  catalog.add(first);
  follow("x");
  const y = follow("y");
  catalog.add(second);
  const generation = catalog.generation();
  catalog.remove(first);
  expect(catalog.generation()).toBeGreaterThan(generation);
  y[Symbol.dispose]();
  catalog.remove(second);
  expect(heard).toEqual(["x +a", "y +a", "x +b", "y +b", "y -a", "x -a", "x -b"]);
  expect(catalog.groups()).toEqual([]);
});
