import { expect, test } from "bun:test";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { attributes } from "../testing.ts";
import { matchResource } from "./matched-resource.ts";
import { admissionRule } from "./rule.ts";

const resource = (version: string, more: object = {}) =>
  ({ group: "example.com", version, resource: "widgets", subresources: new Map(), ...more }) as unknown as ResourceInfo;

test("the versions of a resource are looked up again only after a kind has come or gone", () => {
  const v1 = resource("v1");
  const v2 = resource("v2", { storedAs: { info: v1 } });
  let [generation, reads, served] = [1, 0, [v1]];
  const catalog = { generation: () => generation, all: () => (reads++, served) };
  const rule = admissionRule({ apiGroups: ["*"], apiVersions: ["v2"], operations: ["*"], resources: ["*"] });
  const request = attributes("/widgets", { info: v1, requested: v1 });
  const match = () => matchResource([rule], "Equivalent", request, catalog)?.info.version;
  expect([match(), match(), reads]).toEqual([undefined, undefined, 1]);
  [generation, served] = [2, [v1, v2]];
  expect([match(), match(), reads]).toEqual(["v2", "v2", 2]);
});
