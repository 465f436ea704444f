import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "rbac.authorization.k8s.io/v1/clusterrolebindings";
const minimal: JsonObject = { roleRef: { kind: "ClusterRole", name: "r" } };
const rich: JsonObject = {
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
  subjects: [
    { kind: "User", name: "jane" },
    { kind: "ServiceAccount", name: "bot", namespace: "n" },
  ],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ClusterRoleBinding with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["roleRef.kind", "Role", ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"']],
  [
    "roleRef.apiGroup",
    "x",
    ['roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"'],
  ],
  ["roleRef.name", "", ["roleRef.name: Required value"]],
  [
    "subjects[0].kind",
    "Robot",
    ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
  ],
  ["subjects[1].namespace", "", ["subjects[1].namespace: Required value"]],
  ["subjects[1].name", "", ["subjects[1].name: Required value"]],
])("a ClusterRoleBinding with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "roleRef.name",
    "other",
    [
      'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"other"}: cannot change roleRef',
    ],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
