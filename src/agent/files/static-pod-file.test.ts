import { describe, expect, test } from "bun:test";
import { parseStaticPod } from "./static-pod-file.ts";

const origin = { path: "/etc/pods/web.yaml", nodeName: "node-1", nowMs: Date.parse("2026-03-01T10:00:00Z") };

function parse(text: string, changes: Partial<typeof origin> = {}) {
  return parseStaticPod(Buffer.from(text), { ...origin, ...changes });
}

function manifest(spec: object, metadata: object = { name: "web" }): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [main], ...spec } });
}

const main = { name: "main", image: "example.com/web:1" };

const yaml = `
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - {name: main, image: "example.com/web"}
`;

test("a file becomes a pod of the node, with the API's defaults", () => {
  const pod = parse(yaml);
  const { uid = "" } = pod.metadata;
  expect(uid).toMatch(/^[0-9a-f]{32}$/);
  expect(pod.metadata).toEqual({
    name: "web-node-1",
    namespace: "default",
    uid,
    labels: { app: "web" },
    annotations: {
      "kubernetes.io/config.hash": uid,
      "kubernetes.io/config.seen": "2026-03-01T10:00:00.000Z",
      "kubernetes.io/config.source": "file",
    },
  });
  expect(pod.spec).toMatchObject({
    nodeName: "node-1",
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
    tolerations: [{ operator: "Exists", effect: "NoExecute" }],
    containers: [{ name: "main", imagePullPolicy: "Always", terminationMessagePath: "/dev/termination-log" }],
  });
  expect(pod.status).toEqual({ phase: "Pending" });
});

test("the uid depends on the content, the file and the node, but not on the form", () => {
  const uid = (text: string, changes?: Partial<typeof origin>) => parse(text, changes).metadata.uid;
  const first = uid(manifest({}));
  expect(uid(manifest({}))).toBe(first);
  expect(uid(`# a comment\n${manifest({})}`)).toBe(first);
  expect(uid(manifest({}), { nowMs: 0 })).toBe(first);
  expect(uid(manifest({ hostNetwork: true }))).not.toBe(first);
  expect(uid(manifest({}), { path: "/etc/pods/other.yaml" })).not.toBe(first);
  expect(uid(manifest({}), { nodeName: "node-2" })).not.toBe(first);
  expect(uid(manifest({}, { name: "web", uid: "own" }))).toBe("own");
});

test.each([
  ["", "it has no object of kind Pod and version v1"],
  ["[]", "it has no object of kind Pod and version v1"],
  ['{"apiVersion": "v1", "kind": "ConfigMap"}', "it has no object of kind Pod and version v1"],
  ["a: b: c", "mapping values"],
])("a file without a pod is refused: %j", (text, message) => {
  expect(() => parse(text)).toThrow("/etc/pods/web.yaml: couldn't parse as pod(");
  expect(() => parse(text)).toThrow(message);
});

test.each([
  [manifest({}, {}), "invalid pod: name is needed for the pod"],
  [manifest({ containers: [] }), "invalid pod: [spec.containers: Required value]"],
  [manifest({}, { name: "UPPER" }), "invalid pod: [metadata.name: Invalid value"],
])("a pod that is not valid is refused: %s", (text, message) => expect(() => parse(text)).toThrow(message));

describe("a pod may not refer to", () => {
  const volume = (source: object) => ({ volumes: [{ name: "v", ...source }] });
  const projected = (source: object) => volume({ projected: { sources: [source] } });
  const env = (valueFrom: object) => ({ containers: [{ ...main, env: [{ name: "X", valueFrom }] }] });
  test.each([
    ["serviceaccounts", { serviceAccountName: "robot" }],
    ["secrets", env({ secretKeyRef: { name: "s", key: "k" } })],
    ["secrets", { imagePullSecrets: [{ name: "s" }] }],
    ["configmaps", env({ configMapKeyRef: { name: "c", key: "k" } })],
    ["configmaps (via configmap volumes)", volume({ configMap: { name: "c" } })],
    ["secrets (via secret volumes)", volume({ secret: { secretName: "s" } })],
    ["persistentvolumeclaims", volume({ persistentVolumeClaim: { claimName: "c" } })],
    ["configmaps (via projected volumes)", projected({ configMap: { name: "c" } })],
    ["secrets (via projected volumes)", projected({ secret: { name: "s" } })],
    ["clustertrustbundles", projected({ clusterTrustBundle: { name: "b", path: "p" } })],
  ])("%s", (what, spec) => {
    expect(() => parse(manifest(spec))).toThrow(`static pods may not reference ${what}`);
  });

  test("anything, but it may have volumes of its own", () => {
    const spec = { volumes: [{ name: "e" }, { name: "h", hostPath: { path: "/etc" } }] };
    expect(parse(manifest(spec)).spec?.volumes).toMatchObject([{ emptyDir: {} }, { hostPath: { path: "/etc" } }]);
  });
});
