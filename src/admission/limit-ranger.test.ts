import { expect, test } from "bun:test";
import { limitRanger } from "./limit-ranger.ts";
import { attributes, objects, pod, verdict } from "./testing.ts";

const plugin = (...limits: object[]) =>
  limitRanger({
    lookup: objects({ "/limitranges": [{ metadata: { name: "l", namespace: "ns" }, spec: { limits } }] }),
  });
const container = (requests: object | undefined, limits: object | undefined) => ({
  name: "c",
  resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
});

test("sets defaults for containers and annotates them", async () => {
  const object = pod({
    containers: [container({ cpu: "1" }, undefined)],
    initContainers: [{ name: "i", resources: { requests: { cpu: "2", memory: "3" } } }],
  });
  const limits = {
    type: "Container",
    default: { cpu: "4", memory: "5" },
    defaultRequest: { cpu: "1", memory: "2" },
  };
  expect(await verdict(plugin(limits), attributes("/pods", { object }))).toBeUndefined();
  expect((object["spec"] as any).containers[0].resources).toEqual({
    requests: { cpu: "1", memory: "2" },
    limits: { cpu: "4", memory: "5" },
  });
  expect(object.metadata.annotations).toEqual({
    "kubernetes.io/limit-ranger":
      "LimitRanger plugin set: memory request for container c; cpu, memory limit for container c; cpu, memory limit for init container i",
  });
});

test.each([
  [
    "Container",
    { max: { cpu: "1" } },
    { cpu: "1" },
    { cpu: "2" },
    "maximum cpu usage per Container is 1, but limit is 2",
  ],
  [
    "Container",
    { max: { cpu: "1" } },
    { cpu: "1" },
    undefined,
    "maximum cpu usage per Container is 1.  No limit is specified",
  ],
  [
    "Container",
    { min: { memory: "1Gi" } },
    { memory: "512Mi" },
    { memory: "1Gi" },
    "minimum memory usage per Container is 1Gi, but request is 512Mi",
  ],
  [
    "Container",
    { min: { memory: "1Gi" } },
    undefined,
    { memory: "1Gi" },
    "minimum memory usage per Container is 1Gi.  No request is specified",
  ],
  [
    "Container",
    { maxLimitRequestRatio: { cpu: "2" } },
    { cpu: "1" },
    { cpu: "4" },
    "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000",
  ],
  [
    "Container",
    { maxLimitRequestRatio: { cpu: "2" } },
    undefined,
    { cpu: "4" },
    "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
  ],
  ["Pod", { max: { cpu: "1" } }, { cpu: "1" }, { cpu: "1500m" }, "maximum cpu usage per Pod is 1, but limit is 1500m"],
  [
    "Container",
    { max: { cpu: "1", memory: "1" } },
    { cpu: "1" },
    { cpu: "2", memory: "2" },
    "[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1, but limit is 2]",
  ],
  ["Container", { min: { cpu: "1" }, max: { cpu: "2" } }, { cpu: "1" }, { cpu: "2" }, undefined],
  ["Container", { maxLimitRequestRatio: { cpu: "1500m" } }, { cpu: "2" }, { cpu: "3" }, undefined],
])("%s %j over requests %j and limits %j says %p", async (type, item, requests, limits, problem) => {
  const object = pod({ containers: [container(requests, limits)] });
  const message = await verdict(plugin({ type, ...item }), attributes("/pods", { object }));
  expect(message).toBe(problem === undefined ? (undefined as never) : `pods "p" is forbidden: ${problem}`);
});

test.each([
  ["resize", true],
  ["status", false],
  ["", false],
])("a change of a running pod through %j is checked: %p", async (subresource, judged) => {
  const object = pod({ containers: [container({ cpu: "1" }, { cpu: "2" })] });
  const request = attributes("/pods", { operation: "UPDATE", subresource, object, oldObject: pod() });
  const message = await verdict(plugin({ type: "Container", max: { cpu: "1" } }), request);
  expect(message !== undefined).toBe(judged);
});

test("a pod uses the sum of its containers, or its largest init container with its sidecars", async () => {
  const cpu = (name: string, amount: string, more: object = {}) => ({
    name,
    resources: { requests: { cpu: amount }, limits: { cpu: amount } },
    ...more,
  });
  const object = pod({
    containers: [cpu("a", "1"), cpu("b", "1")],
    initContainers: [cpu("s", "1", { restartPolicy: "Always" }), cpu("i", "3")],
  });
  const message = await verdict(plugin({ type: "Pod", max: { cpu: "3500m" } }), attributes("/pods", { object }));
  expect(message).toBe('pods "p" is forbidden: maximum cpu usage per Pod is 3500m, but limit is 4');
});

test.each([
  ["500Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"],
  ["5Gi", "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 5Gi"],
  ["2Gi", undefined],
])("a claim for %s says %p", async (storage, problem) => {
  const object = { metadata: { name: "c" }, spec: { resources: { requests: { storage } } } };
  const item = { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } };
  const message = await verdict(plugin(item), attributes("/persistentvolumeclaims", { object }));
  expect(message).toBe(
    problem === undefined ? (undefined as never) : `persistentvolumeclaims "c" is forbidden: ${problem}`,
  );
});
