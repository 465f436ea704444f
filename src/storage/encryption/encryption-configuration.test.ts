import { expect, test } from "bun:test";
import { parseEncryptionConfiguration } from "./encryption-configuration.ts";
import { ResourceTransformers } from "./resource-transformers.ts";
import { configurationFile, provider, transformersOf } from "./testing.ts";

const cbc = provider("aescbc", "k", 1);
const secret32 = Buffer.alloc(32, 1).toString("base64");

function problemOf(text: string): string {
  try {
    new ResourceTransformers(parseEncryptionConfiguration(Buffer.from(text)));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const withKey = (kind: string, key: object) => configurationFile([["secrets"], [{ [kind]: { keys: [key] } }]]);
const withKms = (kms: object) => configurationFile([["secrets"], [{ kms }]]);
const overlapping =
  "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";

test.each([
  [configurationFile(), "resources: Required value: at least one resources is required"],
  [
    configurationFile([[], [cbc]]),
    "resources[0].resources: Required value: at least one resources[0].resources is required",
  ],
  [
    configurationFile([["secrets"], []]),
    "resources[0].providers: Required value: at least one resources[0].providers is required",
  ],
  [
    configurationFile([["secrets"], [{}]]),
    "resources[0].providers[0]: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity",
  ],
  [
    configurationFile([["secrets"], [{ ...cbc, identity: {} }]]),
    "resources[0].providers[0]: Invalid value: more than one provider specified in a single element, should split into different list elements",
  ],
  [
    configurationFile([["secrets"], [{ aesgcm: {} }]]),
    "resources[0].providers[0].aesgcm.keys: Required value: at least one keys is required",
  ],
  [
    withKey("aescbc", { secret: secret32 }),
    "resources[0].providers[0].aescbc.keys[0].name: Required value: name is a mandatory field for a key",
  ],
  [
    withKey("aescbc", { name: "k" }),
    "resources[0].providers[0].aescbc.keys[0].secret: Required value: secret is a mandatory field for a key",
  ],
  [
    withKey("aescbc", { name: "k", secret: "not base64!" }),
    'resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
  ],
  [
    withKey("aescbc", { name: "k", secret: 1234 }),
    'resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
  ],
  [
    withKey("aesgcm", { name: "k", secret: "YWJj" }),
    'resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32]',
  ],
  [
    withKey("secretbox", { name: "k", secret: "AAECAwQFBgcICQoLDA0ODw==" }),
    'resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]',
  ],
  [
    configurationFile([["Secrets"], [cbc]]),
    'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
  ],
  [
    configurationFile([["*"], [cbc]]),
    "resources[0].resources[0]: Invalid value: \"*\": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources",
  ],
  [
    configurationFile([["serviceipallocations"], [cbc]]),
    'resources[0].resources[0]: Invalid value: "serviceipallocations": resources which do not have REST API/s cannot be encrypted',
  ],
  [
    configurationFile([["events.events.k8s.io"], [cbc]]),
    "resources[0].resources[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
  ],
  [
    configurationFile([["ingresses.extensions"], [cbc]]),
    "resources[0].resources[0]: Invalid value: \"ingresses.extensions\": 'extensions' group has been removed and cannot be used for encryption",
  ],
  [
    configurationFile([["pods.*"], [cbc]]),
    'resources[0].resources[0]: Invalid value: "pods.*": encrypting the same resource across groups is not supported',
  ],
  [
    configurationFile([["secrets", "secrets"], [cbc]]),
    'resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times',
  ],
  [
    configurationFile([["secrets", "*."], [cbc]]),
    `resources[0].resources: Invalid value: ["secrets","*."]: ${overlapping}`,
  ],
  [configurationFile([["a.b", "*.*"], [cbc]]), `resources[0].resources: Invalid value: ["a.b","*.*"]: ${overlapping}`],
  [
    configurationFile([["*.apps"], [cbc]], [["deployments.apps"], [cbc]]),
    'resource "deployments.apps" is masked by earlier rule "*.apps"',
  ],
  [configurationFile([["*."], [cbc]], [["secrets"], [cbc]]), 'resource "secrets" is masked by earlier rule "*."'],
  [configurationFile([["*.*"], [cbc]], [["*.apps"], [cbc]]), 'resource "*.apps" is masked by earlier rule "*.*"'],
  [
    withKms({ name: "k", endpoint: "unix:///s" }),
    "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.",
  ],
  [
    withKms({ apiVersion: "v2", name: "k", endpoint: "unix:///s", timeout: "-3s" }),
    'resources[0].providers[0].kms.timeout: Invalid value: "-3s": timeout should be a positive value',
  ],
  [
    withKms({ apiVersion: "v2", name: "a:b", endpoint: "http://s", cachesize: 5 }),
    "resources[0].providers[0].kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':'; " +
      'resources[0].providers[0].kms.endpoint: Invalid value: "http://s": unsupported scheme "http" for KMS provider, only unix is supported; ' +
      "resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2",
  ],
])("%#: a wrong configuration gets upstream's message", (file, message) => {
  expect(problemOf(file)).toBe(message);
});

test("a configuration that cannot be parsed never shows its keys", () => {
  for (const file of [
    `{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration", "resources": [${secret32}`,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n  - aescbc:\n      keys:\n      - name: k\n        secret: ${secret32}\n       x: y\n`,
    configurationFile([
      ["secrets"],
      [{ aescbc: { keys: [{ name: "k", [secret32]: 1, secret: { a: secret32 } }] } }],
    ]).replace(`"${secret32}":1,`, ""),
  ]) {
    expect(problemOf(file)).not.toBe("");
    expect(problemOf(file)).not.toContain(secret32.slice(0, 16));
  }
});

test("the most exact rule applies, and the lists of one resource are joined", () => {
  const gcm = provider("aesgcm", "k", 2);
  const rules = transformersOf([["secrets"], [cbc]], [["secrets", "*.apps"], [gcm]], [["*.*"], [{ identity: {} }]]);
  const providersOf = (group: string, resource: string) => {
    const rule = rules.of({ group, resource });
    return [
      rule?.encrypts,
      Buffer.from(rule?.transformer.toStorage(Buffer.from("x"), { key: "/k", resource }) ?? [])
        .toString("latin1")
        .split(":")[2],
    ];
  };
  expect(providersOf("", "secrets")).toEqual([true, "aescbc"]);
  expect(providersOf("apps", "deployments")).toEqual([true, "aesgcm"]);
  expect(providersOf("", "pods")).toEqual([false, undefined]);
  expect(transformersOf([["secrets"], [cbc]]).of({ group: "", resource: "pods" })).toBeUndefined();
  expect(rules.described[0]).toEqual({ resources: "secrets", providers: ["aescbc", "aesgcm"] });
});

test("of two providers with a key of the same name, the one that fits opens the value", () => {
  const [before, after] = [provider("aesgcm", "k", 1), provider("aesgcm", "k", 2)];
  const context = { key: "/registry/secrets/default/s", resource: "secrets" };
  const old = transformersOf([["secrets"], [before]]).of({ group: "", resource: "secrets" })?.transformer;
  const rotated = transformersOf([["secrets"], [after, before]]).of({ group: "", resource: "secrets" })?.transformer;
  const stored = old?.toStorage(Buffer.from("value"), context) as Uint8Array;
  const opened = rotated?.fromStorage(stored, context);
  expect([Buffer.from(opened?.plain ?? []).toString(), opened?.isStale]).toEqual(["value", true]);
});
