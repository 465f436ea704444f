import { describe, expect, test } from "bun:test";
import { resourceListOf } from "../pod-resources.ts";
import { pod } from "../testing.ts";
import { usageOf } from "./usage.ts";

const nowMs = Date.parse("2030-01-01T00:01:00Z");
const pods = { group: "", resource: "pods" };
const container = (requests: object, limits: object = {}, more: object = {}) => ({
  name: "c",
  resources: { requests, limits },
  ...more,
});
const counted = (object: object, resource = pods) => resourceListOf(usageOf(resource, object as never, nowMs));

describe("a pod counts", () => {
  test.each([
    [{}, { "count/pods": "1", pods: "1" }],
    [
      { containers: [container({ cpu: "1", memory: "1Gi" }, { cpu: "2" }), container({ cpu: "500m" })] },
      {
        "count/pods": "1",
        pods: "1",
        cpu: "1500m",
        "requests.cpu": "1500m",
        memory: "1Gi",
        "requests.memory": "1Gi",
        "limits.cpu": "2",
      },
    ],
    [
      { containers: [container({ cpu: "1" })], initContainers: [container({ cpu: "3" })] },
      { "count/pods": "1", pods: "1", cpu: "3", "requests.cpu": "3" },
    ],
    [
      {
        containers: [container({ cpu: "1" })],
        initContainers: [container({ cpu: "1" }, {}, { restartPolicy: "Always" })],
      },
      { "count/pods": "1", pods: "1", cpu: "2", "requests.cpu": "2" },
    ],
    [
      { containers: [container({ cpu: "1" })], overhead: { cpu: "250m" } },
      { "count/pods": "1", pods: "1", cpu: "1250m", "requests.cpu": "1250m" },
    ],
    [
      { containers: [container({ cpu: "1" })], resources: { requests: { cpu: "5" } } },
      { "count/pods": "1", pods: "1", cpu: "5", "requests.cpu": "5" },
    ],
    [
      { containers: [container({ "example.com/gpu": "2", "hugepages-2Mi": "4Mi" }, { "hugepages-2Mi": "4Mi" })] },
      {
        "count/pods": "1",
        pods: "1",
        "requests.example.com/gpu": "2",
        "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi",
        "limits.hugepages-2Mi": "4Mi",
      },
    ],
  ])("%j as %j", (spec, expected) => {
    expect(counted(pod(spec))).toEqual(expected as never);
  });

  test.each([
    [{ status: { phase: "Succeeded" } }, {}],
    [{ status: { phase: "Failed" } }, {}],
    [{}, { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 }],
  ])("only as an object when it has ended: %j %j", (fields, metadata) => {
    const object = { ...pod({ containers: [container({ cpu: "1" })] }, metadata), ...fields };
    expect(counted(object)).toEqual({ "count/pods": "1" });
  });

  test("completely during its grace period", () => {
    const metadata = { deletionTimestamp: "2030-01-01T00:00:50Z", deletionGracePeriodSeconds: 30 };
    expect(counted(pod({}, metadata))).toEqual({ "count/pods": "1", pods: "1" });
  });
});

test.each([
  [{ type: "ClusterIP", ports: [{}] }, {}],
  [{ type: "NodePort", ports: [{}, {}] }, { "services.nodeports": "2" }],
  [
    { type: "LoadBalancer", ports: [{}] },
    { "services.loadbalancers": "1", "services.nodeports": "1" },
  ],
  [
    { type: "LoadBalancer", ports: [{}, { nodePort: 30_000 }], allocateLoadBalancerNodePorts: false },
    { "services.loadbalancers": "1", "services.nodeports": "1" },
  ],
])("a Service %j counts as %j", (spec, expected) => {
  const services = { group: "", resource: "services" };
  expect(counted({ metadata: {}, spec }, services)).toEqual({ "count/services": "1", services: "1", ...expected });
});

test("a claim counts, and again for its class", () => {
  const claim = { metadata: {}, spec: { storageClassName: "fast", resources: { requests: { storage: "1Gi" } } } };
  expect(counted(claim, { group: "", resource: "persistentvolumeclaims" })).toEqual({
    "count/persistentvolumeclaims": "1",
    persistentvolumeclaims: "1",
    "requests.storage": "1Gi",
    "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
    "fast.storageclass.storage.k8s.io/requests.storage": "1Gi",
  });
});

test("a claim to devices counts by class, with the largest of its alternatives", () => {
  const requests = [
    { exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 } },
    { exactly: { deviceClassName: "gpu" } },
    { exactly: { deviceClassName: "nic", allocationMode: "All" } },
    {
      firstAvailable: [
        { deviceClassName: "big", count: 1 },
        { deviceClassName: "small", count: 4 },
        { deviceClassName: "small", count: 2 },
      ],
    },
  ];
  const claim = { metadata: {}, spec: { devices: { requests } } };
  expect(counted(claim, { group: "resource.k8s.io", resource: "resourceclaims" })).toEqual({
    "count/resourceclaims.resource.k8s.io": "1",
    "gpu.deviceclass.resource.k8s.io/devices": "3",
    "nic.deviceclass.resource.k8s.io/devices": "32",
    "big.deviceclass.resource.k8s.io/devices": "1",
    "small.deviceclass.resource.k8s.io/devices": "4",
  });
});

test.each([
  [{ group: "apps", resource: "deployments" }, { "count/deployments.apps": "1" }],
  [
    { group: "", resource: "secrets" },
    { "count/secrets": "1", secrets: "1" },
  ],
  [{ group: "", resource: "endpoints" }, { "count/endpoints": "1" }],
])("an object of %j counts as %j", (resource, expected) => {
  expect(counted({ metadata: {} }, resource)).toEqual(expected as never);
});
