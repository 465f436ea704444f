import "reflect-metadata";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import * as x509 from "@peculiar/x509";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { HastenedClock } from "./hastened-clock.ts";
import { Kubectl } from "./kubectl.ts";

/** Each command of kubectl takes a quarter of a second, and simulated minutes take seconds. */
setDefaultTimeout(60_000);

const clock = new HastenedClock();
let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer({ clock, terminatedPodGcThreshold: 1 });
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

const create = (object: object) => kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(object) });
const patchStatus = (what: readonly string[], status: object) =>
  kubectl.ok(["patch", ...what, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
const names = async (resource: string) => {
  const { items } = await kubectl.get([resource]);
  return (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
};

/** Waits until the objects of a resource are these, while time passes. */
async function untilThereAre(resource: string, expected: readonly string[], secondsMax: number): Promise<void> {
  for (let second = 0; second < secondsMax && (await names(resource)).join() !== expected.join(); second += 5) {
    await clock.pass(5);
  }
  expect(await names(resource)).toEqual([...expected]);
}

const size = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const containers = [{ name: "c", image: "i" }];

test("a volume that is bound is deleted when it is released", async () => {
  const metadata = { name: "v" };
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } };
  await create({ apiVersion: "v1", kind: "PersistentVolume", metadata, spec });
  await patchStatus(["pv", "v"], { phase: "Bound" });
  await kubectl.ok(["delete", "pv", "v", "--wait=false"]);
  expect((await kubectl.get(["pv", "v"])).metadata.finalizers).toEqual(["kubernetes.io/pv-protection"]);
  await patchStatus(["pv", "v"], { phase: "Released" });
  await untilThereAre("pv", [], 20);
});

test("a class of volume attributes is deleted with the last claim that names it", async () => {
  const group = "storage.k8s.io/v1";
  await create({
    apiVersion: group,
    kind: "VolumeAttributesClass",
    metadata: { name: "fast" },
    driverName: "d",
    parameters: { speed: "high" },
  });
  const spec = { ...size, volumeAttributesClassName: "fast" };
  await create({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c" }, spec });
  await clock.pass(2);
  await kubectl.ok(["delete", "volumeattributesclass", "fast", "--wait=false"]);
  await clock.pass(2);
  expect(await names("volumeattributesclasses")).toEqual(["fast"]);
  await kubectl.ok(["delete", "pvc", "c"]);
  await untilThereAre("volumeattributesclasses", [], 20);
});

test("of the pods that have ended, the latest stay", async () => {
  for (const name of ["a", "b"]) {
    await create({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers } });
    await patchStatus(["pod", name], { phase: "Failed" });
    await clock.pass(1);
  }
  await untilThereAre("pods", ["b"], 60);
  await kubectl.ok(["delete", "pod", "b"]);
});

test("a pod gets the claim for its devices from the template, and the claim goes with the pod", async () => {
  const apiVersion = "resource.k8s.io/v1";
  const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpus" } }] };
  await create({ apiVersion, kind: "ResourceClaimTemplate", metadata: { name: "gpu" }, spec: { spec: { devices } } });
  const resourceClaims = [{ name: "gpu", resourceClaimTemplateName: "gpu" }];
  await create({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers, resourceClaims } });
  await kubectl.ok(["wait", "pod/p", "--for=jsonpath={.status.resourceClaimStatuses[0].name}=gpu", "--timeout=10s"]);
  const { status } = await kubectl.get(["pod", "p"]);
  const [{ resourceClaimName }] = status.resourceClaimStatuses;
  expect(resourceClaimName).toMatch(/^p-gpu-[a-z0-9]{5}$/);
  expect(await names("resourceclaims")).toEqual([resourceClaimName]);
  await kubectl.ok(["delete", "pod", "p"]);
  await untilThereAre("resourceclaims", [], 20);
});

test("the usage of a quota that somebody changed is corrected within five minutes", async () => {
  await kubectl.ok(["create", "quota", "q", "--hard=configmaps=9"]);
  const used = async () => (await kubectl.get(["quota", "q"])).status.used.configmaps;
  await kubectl.ok(["wait", "quota/q", "--for=jsonpath={.status.used.configmaps}=1", "--timeout=10s"]);
  await patchStatus(["quota", "q"], { used: { configmaps: "7" } });
  for (let minute = 0; minute < 6 && (await used()) !== "1"; minute++) await clock.pass(60, undefined, 5);
  expect(await used()).toBe("1");
});

test("the objects of every namespace come back when they are deleted", async () => {
  for (const what of ["serviceaccount/default", "configmap/kube-root-ca.crt"]) {
    await kubectl.ok(["delete", what]);
    await kubectl.ok(["wait", what, "--for=create", "--timeout=10s"]);
  }
  const { data } = await kubectl.get(["configmap", "kube-root-ca.crt"]);
  expect(data["ca.crt"]).toBe(server.ca);
});

test("a role collects the rules of those that it selects", async () => {
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: "yes" } }] };
  await create({ apiVersion, kind: "ClusterRole", metadata: { name: "whole" }, aggregationRule, rules: [] });
  await create({ apiVersion, kind: "ClusterRole", metadata: { name: "part", labels: { part: "yes" } }, rules });
  await kubectl.ok(["wait", "clusterrole/whole", "--for=jsonpath={.rules[0].resources[0]}=pods", "--timeout=10s"]);
});

test("the status of a policy has warnings about its types", async () => {
  const expression = "object.spec.replicas > 'a'";
  const spec = {
    matchConstraints: {
      resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] }],
    },
    validations: [{ expression }],
  };
  const apiVersion = "admissionregistration.k8s.io/v1";
  await create({ apiVersion, kind: "ValidatingAdmissionPolicy", metadata: { name: "typed" }, spec });
  await clock.pass(20, undefined, 5);
  const ready = "--for=jsonpath={.status.observedGeneration}=1";
  await kubectl.ok(["wait", "validatingadmissionpolicy/typed", ready, "--timeout=10s"]);
  const { status } = await kubectl.get(["validatingadmissionpolicy", "typed"]);
  expect(status.typeChecking.expressionWarnings[0].warning).toContain("found no matching overload for '_>_'");
});

const daySeconds = 24 * 3_600;

async function requestCertificate(name: string): Promise<void> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const parts = { name: "CN=jane", keys, signingAlgorithm: algorithm };
  const request = btoa((await x509.Pkcs10CertificateRequestGenerator.create(parts)).toString("pem"));
  const spec = { request, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] };
  await create({ apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata: { name }, spec });
}

test("a request for a certificate is removed an hour after it was denied", async () => {
  await requestCertificate("r");
  await kubectl.ok(["certificate", "deny", "r"]);
  await clock.pass(3_000, undefined, 8);
  expect(await names("csr")).toEqual(["r"]);
  await clock.pass(4_300, undefined, 8);
  expect(await names("csr")).toEqual([]);
});

test("a request for a certificate that nobody answers is removed after a day", async () => {
  await requestCertificate("forgotten");
  await clock.skip(0.9 * daySeconds);
  expect(await names("csr")).toEqual(["forgotten"]);
  await clock.skip(0.2 * daySeconds);
  await untilThereAre("csr", [], 60);
});
