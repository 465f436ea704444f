import { expect, test } from "bun:test";
import { Scheme } from "../../kinds/scheme.ts";
import { structOf } from "../scheme/object-form.ts";
import { nullEmptyCollections } from "./empty-collections.ts";

const scheme = Scheme.builtIn({ runtimeConfig: new Map() });

test("an empty list that is always written becomes null, at any depth", () => {
  const role = { metadata: { name: "a" }, rules: [{ verbs: [] }] };
  const info = scheme.find("rbac.authorization.k8s.io", "v1", "clusterroles");
  if (info === undefined) throw new Error("ClusterRoles are not served");
  nullEmptyCollections(structOf(info), role);
  expect(role).toEqual({ metadata: { name: "a" }, rules: [{ verbs: null }] } as never);
  const empty = { rules: [] };
  nullEmptyCollections(structOf(info), empty);
  expect(empty).toEqual({ rules: null } as never);
});
