import { describe, expect, test } from "bun:test";
import type { Container, EnvVar, Pod, Service } from "../../api/types/core-v1.ts";
import { containerEnvironment, type EnvironmentSources } from "./environment.ts";

const pod: Pod = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: {
    name: "web",
    namespace: "shop",
    uid: "u-1",
    labels: { app: "web", "a.b/c": 'say "hi"' },
    annotations: { note: "two\nlines" },
  },
  spec: {
    containers: [
      { name: "main", resources: { limits: { cpu: "1500m" }, requests: { memory: "64Mi" } } },
      { name: "other", resources: { limits: { memory: "1Gi" } } },
    ],
    nodeName: "n1",
    serviceAccountName: "robot",
  },
};

function service(namespace: string, name: string, clusterIP: string, ports: object[] = [{ port: 80 }]): Service {
  return { kind: "Service", apiVersion: "v1", metadata: { namespace, name }, spec: { clusterIP, ports } } as Service;
}

const sources: EnvironmentSources = {
  addresses: { podIps: ["10.0.0.7", "fd00::7"], hostIps: ["192.168.1.5", "fd01::5"] },
  services: [],
  configMap: async (name) =>
    name === "config" ? { data: { key: "value", "with.dots-1": "odd", __proto__: "own" } } : undefined,
  secret: async (name) => (name === "keys" ? { data: { password: btoa("hidden") } } : undefined),
  fileKey: async (_volume, _path, key) => (key === "known" ? "from file" : ""),
  allocatable: () => ({ cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi" }),
};

async function environment(
  container: Partial<Container>,
  changes: Partial<EnvironmentSources> = {},
): Promise<string[]> {
  const main = { ...pod.spec?.containers?.[0], name: "main", ...container };
  const variables = await containerEnvironment(pod, main, { ...sources, ...changes });
  return variables.map(([name, value]) => `${name}=${value}`);
}

async function valueOf(valueFrom: NonNullable<EnvVar["valueFrom"]>): Promise<string | undefined> {
  return (await environment({ env: [{ name: "X", valueFrom }] }))[0]?.slice("X=".length);
}

test.each([
  ["metadata.name", "web"],
  ["metadata.namespace", "shop"],
  ["metadata.uid", "u-1"],
  ["metadata.labels", 'a.b/c="say \\"hi\\""\napp="web"'],
  ["metadata.annotations", 'note="two\\nlines"'],
  ["metadata.labels['app']", "web"],
  ["metadata.labels['none']", ""],
  ["metadata.labels['constructor']", ""],
  ["metadata.annotations['note']", "two\nlines"],
  ["spec.nodeName", "n1"],
  ["spec.serviceAccountName", "robot"],
  ["status.hostIP", "192.168.1.5"],
  ["status.hostIPs", "192.168.1.5,fd01::5"],
  ["status.podIP", "10.0.0.7"],
  ["status.podIPs", "10.0.0.7,fd00::7"],
])("the field %s is %j", async (fieldPath, value) => expect(await valueOf({ fieldRef: { fieldPath } })).toBe(value));

test.each([
  ["spec.restartPolicy", "unsupported fieldPath: spec.restartPolicy"],
  ["spec.containers['x']", "fieldPath \"spec.containers['x']\" does not support subscript"],
])("the field %s is refused", async (fieldPath, message) => {
  await expect(valueOf({ fieldRef: { fieldPath } })).rejects.toThrow(message);
});

test.each([
  [{ resource: "limits.cpu" }, "2"],
  [{ resource: "limits.cpu", divisor: "1m" }, "1500"],
  [{ resource: "limits.cpu", divisor: "0" }, "2"],
  [{ resource: "limits.memory" }, String(8 * 1024 ** 3)],
  [{ resource: "limits.memory", divisor: "1Mi" }, "8192"],
  [{ resource: "requests.memory", divisor: "1M" }, "68"],
  [{ resource: "requests.cpu" }, "0"],
  [{ resource: "limits.ephemeral-storage", divisor: "1Gi" }, "100"],
  [{ resource: "requests.hugepages-2Mi" }, "0"],
  [{ resource: "limits.memory", containerName: "other", divisor: "1Gi" }, "1"],
])("the resource %j is %s", async (resourceFieldRef, value) => expect(await valueOf({ resourceFieldRef })).toBe(value));

test("resources that do not exist are refused", async () => {
  await expect(valueOf({ resourceFieldRef: { resource: "limits.gpu" } })).rejects.toThrow(
    "unsupported container resource : limits.gpu",
  );
  await expect(valueOf({ resourceFieldRef: { resource: "limits.cpu", containerName: "x" } })).rejects.toThrow(
    "container x not found",
  );
});

describe("objects", () => {
  test("give single keys", async () => {
    expect(await valueOf({ configMapKeyRef: { name: "config", key: "key" } })).toBe("value");
    expect(await valueOf({ secretKeyRef: { name: "keys", key: "password" } })).toBe("hidden");
    expect(await valueOf({ fileKeyRef: { volumeName: "v", path: "p", key: "known" } })).toBe("from file");
  });

  test.each([
    [{ configMapKeyRef: { name: "none", key: "key" } }, 'configmap "none" not found'],
    [{ secretKeyRef: { name: "none", key: "key" } }, 'secret "none" not found'],
    [{ configMapKeyRef: { name: "config", key: "no" } }, "couldn't find key no in ConfigMap shop/config"],
    [{ secretKeyRef: { name: "keys", key: "toString" } }, "couldn't find key toString in Secret shop/keys"],
    [{ fileKeyRef: { volumeName: "v", path: "p", key: "no" } }, 'environment variable key "no" not found in file "p"'],
  ])("that are absent are refused: %j", async (valueFrom, message) => {
    await expect(valueOf(valueFrom)).rejects.toThrow(message);
  });

  test("that are absent and optional leave the variable out", async () => {
    const optional = true;
    const env: EnvVar[] = [
      { name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "key", optional } } },
      { name: "B", valueFrom: { secretKeyRef: { name: "keys", key: "no", optional } } },
      { name: "C", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "no", optional } } },
      { name: "D", value: "there" },
    ];
    const envFrom = [{ configMapRef: { name: "none", optional } }, { secretRef: { name: "none", optional } }];
    expect(await environment({ env, envFrom })).toEqual(["D=there"]);
  });

  test("give all their keys, with a prefix and whatever their names are", async () => {
    const envFrom = [{ prefix: "C_", configMapRef: { name: "config" } }, { secretRef: { name: "keys" } }];
    expect(await environment({ envFrom })).toEqual(["C_key=value", "C_with.dots-1=odd", "password=hidden"]);
  });

  test("must exist to give all their keys", async () => {
    await expect(environment({ envFrom: [{ secretRef: { name: "none" } }] })).rejects.toThrow(
      'secret "none" not found',
    );
  });
});

test("later variables replace earlier ones, and refer to those above them", async () => {
  const env = [
    { name: "LATE", value: "$(EARLY)" },
    { name: "EARLY", value: "1" },
    { name: "BOTH", value: "$(EARLY)-$(C_key)-$$(EARLY)" },
    { name: "EARLY", value: "$(EARLY)2" },
    { name: "EMPTY" },
  ];
  expect(await environment({ env, envFrom: [{ prefix: "C_", configMapRef: { name: "config" } }] })).toEqual([
    "C_key=value",
    "C_with.dots-1=odd",
    "LATE=$(EARLY)",
    "EARLY=12",
    "BOTH=1-value-$(EARLY)",
    "EMPTY=",
  ]);
});

describe("services", () => {
  const services = [
    service("default", "kubernetes", "10.96.0.1", [{ port: 443, name: "https" }]),
    service("shop", "my-db", "fd00::1", [
      { port: 5432, name: "sql" },
      { port: 53, name: "dns-udp", protocol: "UDP" },
    ]),
    service("shop", "headless", "None"),
    service("other", "far", "10.96.0.9"),
  ];

  test("of the namespace have variables, and the API server's", async () => {
    expect(await environment({}, { services })).toEqual([
      "KUBERNETES_SERVICE_HOST=10.96.0.1",
      "KUBERNETES_SERVICE_PORT=443",
      "KUBERNETES_SERVICE_PORT_HTTPS=443",
      "KUBERNETES_PORT=tcp://10.96.0.1:443",
      "KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443",
      "KUBERNETES_PORT_443_TCP_PROTO=tcp",
      "KUBERNETES_PORT_443_TCP_PORT=443",
      "KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1",
      "MY_DB_SERVICE_HOST=fd00::1",
      "MY_DB_SERVICE_PORT=5432",
      "MY_DB_SERVICE_PORT_SQL=5432",
      "MY_DB_SERVICE_PORT_DNS_UDP=53",
      "MY_DB_PORT=tcp://[fd00::1]:5432",
      "MY_DB_PORT_5432_TCP=tcp://[fd00::1]:5432",
      "MY_DB_PORT_5432_TCP_PROTO=tcp",
      "MY_DB_PORT_5432_TCP_PORT=5432",
      "MY_DB_PORT_5432_TCP_ADDR=fd00::1",
      "MY_DB_PORT_53_UDP=udp://[fd00::1]:53",
      "MY_DB_PORT_53_UDP_PROTO=udp",
      "MY_DB_PORT_53_UDP_PORT=53",
      "MY_DB_PORT_53_UDP_ADDR=fd00::1",
    ]);
  });

  test("can be referred to, and are replaced by variables of the container", async () => {
    const env = [
      { name: "URL", value: "https://$(KUBERNETES_SERVICE_HOST)" },
      { name: "MY_DB_SERVICE_HOST", value: "mine" },
    ];
    const variables = await environment({ env }, { services });
    expect(variables).toContain("URL=https://10.96.0.1");
    expect(variables.filter((one) => one.startsWith("MY_DB_SERVICE_HOST="))).toEqual(["MY_DB_SERVICE_HOST=mine"]);
  });

  test("other than the API server's are left out without service links", async () => {
    const unlinked = { ...pod, spec: { containers: null, enableServiceLinks: false } };
    const variables = await containerEnvironment(unlinked, { name: "main" }, { ...sources, services });
    expect(variables.every(([name]) => name.startsWith("KUBERNETES_"))).toBe(true);
    expect(variables).toHaveLength(8);
  });
});
