import { describe, expect, test } from "bun:test";
import { serviceAccount } from "./service-account.ts";
import { attributes, objects, pod, verdict } from "./testing.ts";

const account = (name: string, fields: object = {}, metadata: object = {}) => ({
  metadata: { name, namespace: "ns", ...metadata },
  ...fields,
});
const plugin = (...accounts: object[]) =>
  serviceAccount({
    lookup: objects({ "/serviceaccounts": accounts }),
    randomInt: () => 0,
    wait: () => Promise.resolve(),
  });
const mirror = { annotations: { "kubernetes.io/config.mirror": "x" } };
const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const tokenMount = { name: "kube-api-access-bbbbb", readOnly: true, mountPath: tokenPath };

async function admitted(object: ReturnType<typeof pod>, ...accounts: object[]): Promise<any> {
  expect(await verdict(plugin(...accounts), attributes("/pods", { object }))).toBeUndefined();
  return object["spec"];
}

test("a pod without an account gets the default one, in both spellings, and its token", async () => {
  const spec = await admitted(pod({ initContainers: [{ name: "i" }] }), account("default"));
  expect(spec).toMatchObject({ serviceAccountName: "default", serviceAccount: "default" });
  expect(spec.containers[0].volumeMounts).toEqual([tokenMount]);
  expect(spec.initContainers[0].volumeMounts).toEqual([tokenMount]);
  expect(spec.volumes).toEqual([
    {
      name: "kube-api-access-bbbbb",
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          {
            downwardAPI: {
              items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
            },
          },
        ],
        defaultMode: 420,
      },
    },
  ]);
});

test.each([
  [undefined, undefined, true],
  [undefined, false, false],
  [false, true, false],
  [true, false, true],
])("automount %p in the pod and %p in the account mounts: %p", async (inPod, inAccount, mounted) => {
  const spec = await admitted(
    pod(inPod === undefined ? {} : { automountServiceAccountToken: inPod }),
    account("default", inAccount === undefined ? {} : { automountServiceAccountToken: inAccount }),
  );
  expect(spec.volumes !== undefined).toBe(mounted);
});

test("a volume of that name is used, and a mount at that path is kept", async () => {
  const own = { name: "other", mountPath: tokenPath };
  const spec = await admitted(
    pod({
      volumes: [{ name: "kube-api-access-mine" }],
      containers: [{ name: "a", volumeMounts: [own] }, { name: "b" }],
    }),
    account("default"),
  );
  expect(spec.volumes).toEqual([{ name: "kube-api-access-mine" }]);
  expect(spec.containers[0].volumeMounts).toEqual([own]);
  expect(spec.containers[1].volumeMounts).toEqual([{ ...tokenMount, name: "kube-api-access-mine" }]);
});

test.each([
  [[], [{ name: "a" }]],
  [[{ name: "own" }], [{ name: "own" }]],
])("image pull secrets %j become %j", async (own, expected) => {
  const spec = await admitted(
    pod({ imagePullSecrets: own }),
    account("default", { imagePullSecrets: [{ name: "a" }] }),
  );
  expect(spec.imagePullSecrets).toEqual(expected);
});

describe("rejects", () => {
  const mounting = { metadata: { annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } } };
  const strict = account("default", { secrets: [{ name: "ok" }] }, mounting.metadata);
  test.each([
    [
      "an account that does not exist",
      pod({ serviceAccountName: "x" }),
      'pods "p" is forbidden: error looking up service account ns/x: serviceaccount "x" not found',
    ],
    [
      "a name that no account can have",
      pod({ serviceAccountName: "10%" }),
      'pods "p" is forbidden: error looking up service account ns/10%: invalid resource name "10%": [may not contain \'%\']',
    ],
    [
      "a mirror pod with an account",
      pod({ serviceAccountName: "default" }, mirror),
      'pods "p" is forbidden: a mirror pod may not reference service accounts',
    ],
    [
      "a mirror pod with a secret",
      pod({ volumes: [{ name: "v", secret: { secretName: "s" } }] }, mirror),
      'pods "p" is forbidden: a mirror pod may not reference secrets',
    ],
    [
      "a mirror pod with a token",
      pod({ volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: {} }] } }] }, mirror),
      'pods "p" is forbidden: a mirror pod may not use ServiceAccountToken volume projections',
    ],
    [
      "a secret that a strict account does not reference",
      pod({ volumes: [{ name: "v", secret: { secretName: "s" } }] }),
      'pods "p" is forbidden: volume with secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      "a variable from such a secret",
      pod({ containers: [{ name: "c", env: [{ name: "E", valueFrom: { secretKeyRef: { name: "s" } } }] }] }),
      'pods "p" is forbidden: container c with envVar E referencing secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      "CVE-2024-3177: all variables of such a secret",
      pod({ initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "s" } }] }] }),
      'pods "p" is forbidden: init container i with envFrom referencing secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      "a pull secret of its own",
      pod({ imagePullSecrets: [{ name: "s" }] }),
      'pods "p" is forbidden: imagePullSecrets[0].name="s" is not allowed because service account default does not reference that imagePullSecret',
    ],
  ])("%s", async (_, object, message) => {
    expect(await verdict(plugin(strict), attributes("/pods", { object }))).toBe(message);
  });
});

test("a mirror pod is unchanged", async () => {
  const object = pod({}, mirror);
  const before = JSON.stringify(object);
  await admitted(object);
  expect(JSON.stringify(object)).toBe(before);
});

test("waits for the default account of a new namespace", async () => {
  const accounts: object[] = [];
  let waits = 0;
  const waiting = serviceAccount({
    lookup: objects({ "/serviceaccounts": accounts }),
    randomInt: () => 0,
    wait: async () => {
      if (++waits === 3) accounts.push(account("default"));
    },
  });
  expect(await verdict(waiting, attributes("/pods", { object: pod() }))).toBeUndefined();
  expect(waits).toBe(3);
});

test.each([
  ["CVE-2023-2728", { env: [{ name: "E", valueFrom: { secretKeyRef: { name: "s" } } }] }, "envVar E"],
  ["CVE-2024-3177", { envFrom: [{ secretRef: { name: "s" } }] }, "envFrom"],
])("%s: an ephemeral container gets no secret that a strict account does not reference", async (_cve, fields, what) => {
  const strict = account("default", {}, { annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } });
  const object = pod({ serviceAccountName: "default", ephemeralContainers: [{ name: "e", ...fields }] });
  const update = attributes("/pods", {
    object,
    oldObject: object,
    operation: "UPDATE",
    subresource: "ephemeralcontainers",
  });
  expect(await verdict(plugin(strict), update)).toBe(
    `ephemeral container e with ${what} referencing secret.secretName="s" is not allowed because service account default does not reference that secret`,
  );
  expect(await verdict(plugin(account("default")), update)).toBeUndefined();
});
