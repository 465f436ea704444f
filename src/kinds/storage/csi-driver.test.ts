import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { type Kind, strategyOf } from "../../registry/kind.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";
import { csiDriver } from "./csi-driver.ts";

const path = "storage.k8s.io/v1/csidrivers";
const minimal: JsonObject = { metadata: { name: "disk.example.com" }, spec: {} };
const rich: JsonObject = {
  metadata: { name: "disk.example.com" },
  spec: {
    attachRequired: true,
    podInfoOnMount: true,
    storageCapacity: true,
    fsGroupPolicy: "File",
    volumeLifecycleModes: ["Persistent", "Ephemeral"],
    tokenRequests: [{ audience: "vault", expirationSeconds: 3600 }, { audience: "" }],
    requiresRepublish: true,
    seLinuxMount: true,
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a CSIDriver with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "metadata.name",
    "Disk",
    [
      "metadata.name: Invalid value: \"Disk\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.fsGroupPolicy",
    "Some",
    ['spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
  ],
  [
    "spec.volumeLifecycleModes",
    ["Forever"],
    ['spec.volumeLifecycleModes: Unsupported value: "Forever": supported values: "Persistent", "Ephemeral"'],
  ],
  [
    "spec.tokenRequests[0].expirationSeconds",
    60,
    ["spec.tokenRequests[0].expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes"],
  ],
  [
    "spec.tokenRequests[0].expirationSeconds",
    5000000000,
    [
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 5000000000: may not specify a duration larger than 2^32 seconds",
    ],
  ],
  ["spec.tokenRequests[0].audience", "", ['spec.tokenRequests[1].audience: Duplicate value: ""']],
])("a CSIDriver with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.attachRequired", false, ["spec.attachedRequired: Invalid value: false: field is immutable"]],
  ["spec.fsGroupPolicy", "None", []],
  [
    "spec.volumeLifecycleModes",
    ["Persistent"],
    ['spec.volumeLifecycleModes: Invalid value: ["Persistent"]: field is immutable'],
  ],
  ["spec.podInfoOnMount", false, []],
  ["spec.storageCapacity", false, []],
  ["spec.requiresRepublish", false, []],
  ["spec.tokenRequests", [], []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test.each<[what: string, spec: JsonObject, old: JsonObject | undefined, warned: boolean]>([
  ["new tokens", { tokenRequests: [{ audience: "a" }] }, undefined, true],
  ["new tokens that go to secrets", { tokenRequests: [{}], serviceAccountTokenInSecrets: true }, undefined, false],
  ["no tokens", {}, undefined, false],
  ["tokens as they were", { tokenRequests: [{}] }, { tokenRequests: [{}] }, false],
  ["other tokens", { tokenRequests: [{ audience: "a" }] }, { tokenRequests: [{}] }, true],
])("%s are warned of if they may end up in a log", (_, spec, old, warned) => {
  const { warnings } = strategyOf(csiDriver as Kind);
  const driver = (of: JsonObject) => ({ kind: "", apiVersion: "", metadata: {}, spec: of });
  expect(warnings?.(driver(spec), old && driver(old))).toHaveLength(warned ? 1 : 0);
});

test("tokens have to be there to be put into secrets", async () => {
  expect(await refusal(path, changed(minimal, "spec.serviceAccountTokenInSecrets", true))).toEqual([
    "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
  ]);
});
