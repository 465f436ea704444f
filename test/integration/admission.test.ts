import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer } from "../../src/index.ts";
import { until } from "../until.ts";
import { mergePatch, pod, TestServer } from "./server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;

async function labelled(labels: Record<string, string>): Promise<string> {
  const prefixed = Object.entries(labels).map(([mode, level]) => [`pod-security.kubernetes.io/${mode}`, level]);
  const metadata = { generateName: "security-", labels: Object.fromEntries(prefixed) };
  return (await server.create("/api/v1/namespaces", { metadata })).metadata.name;
}

describe("PodSecurity", () => {
  const violations =
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';
  const plain = { containers: [{ name: "c", image: "i" }] };

  test("refuses a pod", async () => {
    const { code, json, headers } = await server.post(
      podsOf(await labelled({ enforce: "restricted" })),
      pod("p", plain),
    );
    expect({ code, reason: json.reason, message: json.message, details: json.details }).toEqual({
      code: 403,
      reason: "Forbidden",
      message: `pods "p" is forbidden: violates PodSecurity "restricted:latest": ${violations}`,
      details: { name: "p", kind: "pods" },
    });
    expect(headers.get("warning")).toBeNull();
  });

  test("warns of a Deployment in a header, and accepts it", async () => {
    const namespace = await labelled({ enforce: "restricted", "enforce-version": "v1.30" });
    const labels = { app: "a" };
    const deployment = {
      metadata: { name: "d" },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: plain } },
    };
    const { code, headers } = await server.post(`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment);
    expect(code).toBe(201);
    const text = `would violate PodSecurity "restricted:v1.30": ${violations}`;
    expect(headers.get("warning")).toBe(`299 - "${text.replaceAll('"', '\\"')}"`);
  });

  test("warns when existing pods fall short of new labels", async () => {
    const namespace = await server.namespace();
    await server.create(podsOf(namespace), pod("a", plain));
    await server.create(podsOf(namespace), pod("b", plain));
    const metadata = { labels: { "pod-security.kubernetes.io/enforce": "restricted" } };
    const { code, headers } = await server.patch(`/api/v1/namespaces/${namespace}`, mergePatch, { metadata });
    expect(code).toBe(200);
    const text = (headers.get("warning") ?? "").replaceAll("\\", "");
    expect(text).toContain(
      `299 - "existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "restricted:latest""`,
    );
    expect(text).toContain("a (and 1 other pod): allowPrivilegeEscalation != false, unrestricted capabilities");
  });

  test("refuses a namespace with an invalid label", async () => {
    const labels = { "pod-security.kubernetes.io/enforce": "strict" };
    const { code, json } = await server.post("/api/v1/namespaces", { metadata: { name: "strict", labels } });
    expect(code).toBe(422);
    expect(json.details.causes).toEqual([
      {
        reason: "FieldValueInvalid",
        message: 'Invalid value: "strict": must be one of privileged, baseline, restricted',
        field: "metadata.labels[pod-security.kubernetes.io/enforce]",
      },
    ]);
  });
});

test("a pod of an account that is missing is refused; the default one is there at once", async () => {
  const namespace = await server.namespace();
  const { code, json } = await server.post(podsOf(namespace), pod("p", { serviceAccountName: "nobody" }));
  expect({ code, message: json.message }).toEqual({
    code: 403,
    message: `pods "p" is forbidden: error looking up service account ${namespace}/nobody: serviceaccount "nobody" not found`,
  });
  const { spec } = await server.create(podsOf(namespace), pod("p"));
  expect(spec.serviceAccountName).toBe("default");
  expect(spec.containers[0].volumeMounts[0].mountPath).toBe("/var/run/secrets/kubernetes.io/serviceaccount");
});

test("the defaults of admission are visible and have no owner", async () => {
  const namespace = await server.namespace();
  const created = await server.create(podsOf(namespace), pod("p"));
  expect(created.spec).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
  expect(created.spec.tolerations.map(({ key }: any) => key)).toEqual([
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
  ]);
  const owned = JSON.stringify(created.metadata.managedFields);
  expect(owned).not.toContain("f:tolerations");
  expect(owned).not.toContain("f:serviceAccountName");
});

test("a pod that is bound learns the zone of its node", async () => {
  const namespace = await server.namespace();
  const labels = { "topology.kubernetes.io/zone": "z1" };
  await server.create("/api/v1/nodes", { metadata: { name: "zoned", labels } });
  await server.create(podsOf(namespace), pod("p"));
  const binding = { metadata: { name: "p" }, target: { kind: "Node", name: "zoned" } };
  await server.create(`${podsOf(namespace)}/p/binding`, binding);
  expect((await server.get(`${podsOf(namespace)}/p`)).json.metadata.labels).toEqual(labels);
});

test("limits of a namespace are filled in and held", async () => {
  const namespace = await server.namespace();
  const limits = [{ type: "Container", max: { cpu: "2" }, default: { cpu: "1" }, defaultRequest: { cpu: "500m" } }];
  await server.create(`/api/v1/namespaces/${namespace}/limitranges`, { metadata: { name: "l" }, spec: { limits } });
  const { spec, status } = await server.create(podsOf(namespace), pod("p"));
  expect(spec.containers[0].resources).toEqual({ requests: { cpu: "500m" }, limits: { cpu: "1" } });
  expect(status.qosClass).toBe("Burstable");
  const large = [{ name: "c", image: "i", resources: { limits: { cpu: "3" } } }];
  expect((await server.post(podsOf(namespace), pod("large", { containers: large }))).json.message).toBe(
    'pods "large" is forbidden: maximum cpu usage per Container is 2, but limit is 3',
  );
});

test("every namespace has an account, made again when it is deleted, and the authority's certificate", async () => {
  await using own = await TestServer.start({ controllers: "*" });
  const namespace = await own.namespace();
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
  const eventually = async (path: string) =>
    (
      await until(
        () => own.get(path),
        ({ code }) => code === 200,
      )
    ).json;
  const { metadata } = await eventually(account);
  await own.delete(account);
  expect((await eventually(account)).metadata.uid).not.toBe(metadata.uid);
  const map = `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`;
  expect((await eventually(map)).data).toEqual({ "ca.crt": own.running.ca });
  await own.patch(map, mergePatch, { data: { "ca.crt": "mine" } });
  await until(async () => (await eventually(map)).data["ca.crt"] !== "mine");
});

describe("flags", () => {
  test("leave plugins out and add others", async () => {
    await using own = await TestServer.start({ disableAdmissionPlugins: ["ServiceAccount", "Priority"] });
    const { spec } = await own.create(podsOf(await own.namespace()), pod("p"));
    expect(spec).not.toContainAnyKeys(["volumes", "priority"]);
  });

  test("with a name that there is not end the start", async () => {
    const start = startServer({ enableAdmissionPlugins: ["NoSuchPlugin"] });
    await expect(start).rejects.toThrow(
      /--enable-admission-plugins: "NoSuchPlugin" is not one of AlwaysAdmit, NamespaceLifecycle, /,
    );
  });

  test("of the network are checked", async () => {
    await expect(startServer({ serviceClusterIpRange: "x" })).rejects.toThrow(/--service-cluster-ip-range: "x"/);
    await expect(startServer({ serviceNodePortRange: "1" })).rejects.toThrow(/--service-node-port-range: "1"/);
  });
});

test("deleted claims and volumes are removed when they are no longer used", async () => {
  const namespace = await server.namespace();
  const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "s", resources: { requests: { storage: "1Gi" } } };
  await server.create(claims, { metadata: { name: "c" }, spec });
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "c" } }];
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await server.create(pods, pod("p", { nodeName: "a", volumes }));
  const { json } = await server.delete(`${claims}/c`);
  expect(json.metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]);
  await Bun.sleep(50);
  expect((await server.get(`${claims}/c`)).code).toBe(200);
  await server.delete(`${pods}/p?gracePeriodSeconds=0`);
  await until(async () => (await server.get(`${claims}/c`)).code === 404);
});
