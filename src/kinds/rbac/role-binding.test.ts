import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "rbac.authorization.k8s.io/v1/rolebindings";
const minimal: JsonObject = { roleRef: { kind: "Role", name: "r" } };
const rich: JsonObject = {
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
  subjects: [
    { kind: "User", name: "jane" },
    { kind: "Group", name: "devs" },
    { kind: "ServiceAccount", name: "bot", namespace: "n" },
  ],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a RoleBinding with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "roleRef.apiGroup",
    "apps",
    ['roleRef.apiGroup: Unsupported value: "apps": supported values: "rbac.authorization.k8s.io"'],
  ],
  ["roleRef.kind", "Pod", ['roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole"']],
  ["roleRef.name", "", ["roleRef.name: Required value"]],
  ["roleRef.name", "a/b", ["roleRef.name: Invalid value: \"a/b\": may not contain '/'"]],
  ["subjects[0].name", "", ["subjects[0].name: Required value"]],
  [
    "subjects[0].apiGroup",
    "apps",
    ['subjects[0].apiGroup: Unsupported value: "apps": supported values: "rbac.authorization.k8s.io"'],
  ],
  [
    "subjects[1].apiGroup",
    "apps",
    ['subjects[1].apiGroup: Unsupported value: "apps": supported values: "rbac.authorization.k8s.io"'],
  ],
  [
    "subjects[2].name",
    "Bot",
    [
      "subjects[2].name: Invalid value: \"Bot\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["subjects[2].apiGroup", "apps", ['subjects[2].apiGroup: Unsupported value: "apps": supported values: ""']],
  [
    "subjects[0].kind",
    "Robot",
    ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
  ],
])("a RoleBinding with %s = %j is refused", async (field, value, causes) => {
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
  ["subjects", [], []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
