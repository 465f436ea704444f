import { expect, test } from "bun:test";
import type { PodSpec } from "../../api/types/core-v1.ts";
import { podResources } from "./pod-resources.ts";
import { container, viewOf } from "./testing.ts";

const resourcesOf = (spec: Partial<PodSpec>) => podResources(viewOf({ spec }).pod);
const given = (name: string, cpu: string, more: object = {}) =>
  container(name, { resources: { requests: { cpu }, limits: { cpu } }, ...more });

test("containers that run together add up", () => {
  const containers = [given("a", "100m"), given("b", "0.4"), container("c")];
  expect(resourcesOf({ containers })).toEqual({ requests: { cpu: "500m" }, limits: { cpu: "500m" } });
  expect(resourcesOf({})).toEqual({});
});

test("an init container needs its amount and that of the sidecars before it", () => {
  const sidecar = given("s", "1", { restartPolicy: "Always" });
  const containers = [given("a", "500m")];
  expect(resourcesOf({ initContainers: [sidecar, given("i", "2")], containers }).requests).toEqual({ cpu: "3" });
  expect(resourcesOf({ initContainers: [given("i", "1200m"), sidecar], containers }).requests).toEqual({
    cpu: "1500m",
  });
});

test("the pod's own amounts count instead, and its overhead is added", () => {
  const containers = [given("a", "500m")];
  const spec = { containers, resources: { requests: { cpu: "2" } }, overhead: { cpu: "250m", memory: "1Mi" } };
  expect(resourcesOf(spec)).toEqual({ requests: { cpu: "2250m", memory: "1Mi" }, limits: { cpu: "750m" } });
});
