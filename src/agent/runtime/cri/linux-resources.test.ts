import { describe, expect, test } from "bun:test";
import type { Container, Pod, PodSpec } from "../../../api/types/core-v1.ts";
import { containerResources, linuxResources, oomScoreOf, podResources } from "./linux-resources.ts";

const gibibyte = 2 ** 30;

function podOf(spec: Partial<PodSpec>): Pod {
  return { kind: "Pod", apiVersion: "v1", metadata: { name: "p" }, spec: { containers: [], ...spec } };
}

function asking(name: string, memory: string, rest: Partial<Container> = {}): Container {
  return { name, resources: { requests: { memory } }, ...rest };
}

describe("limits", () => {
  test("keep within the kernel's bounds", () => {
    expect(linuxResources({})).toEqual({ cpuShares: 2, cpuPeriod: 100_000, cpuQuota: 0 });
    expect(linuxResources({ requests: { cpu: "1m" }, limits: { cpu: "1m", memory: "1Gi" } })).toEqual({
      cpuShares: 2,
      cpuPeriod: 100_000,
      cpuQuota: 1_000,
      memoryLimitInBytes: gibibyte,
    });
    expect(linuxResources({ requests: { cpu: "1000" } }).cpuShares).toBe(262_144);
  });

  test("stand for requests that are absent", () => {
    expect(linuxResources({ limits: { cpu: "1500m" } })).toMatchObject({ cpuShares: 1_536, cpuQuota: 150_000 });
  });

  test("of a pod hold for containers without their own", () => {
    const container = { name: "c", resources: { limits: { cpu: "250m" } } };
    const pod = podOf({ containers: [container], resources: { limits: { cpu: "2", memory: "1Gi" } } });
    expect(containerResources(pod, container, 4 * gibibyte)).toMatchObject({
      cpuQuota: 25_000,
      memoryLimitInBytes: gibibyte,
    });
    expect(podResources(pod)).toMatchObject({ cpuQuota: 200_000, memoryLimitInBytes: gibibyte });
  });
});

describe("the score", () => {
  test("follows the class of service", () => {
    const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };
    const guaranteed = { name: "c", resources };
    expect(oomScoreOf(podOf({ containers: [guaranteed] }), guaranteed, 4 * gibibyte)).toBe(-997);
    const plain = { name: "c" };
    expect(oomScoreOf(podOf({ containers: [plain] }), plain, 4 * gibibyte)).toBe(1_000);
    const critical = podOf({ containers: [plain], priorityClassName: "system-node-critical" });
    expect(oomScoreOf(critical, plain, 4 * gibibyte)).toBe(-997);
  });

  test("falls with the memory that a container asks for", () => {
    const [small, half, all] = [asking("a", "1Ki"), asking("b", "2Gi"), asking("c", "4Gi")];
    const pod = podOf({ containers: [small, half, all] });
    expect([small, half, all].map((one) => oomScoreOf(pod, one, 4 * gibibyte))).toEqual([999, 500, 3]);
  });

  test("of a sidecar is at most that of the containers it serves", () => {
    const sidecar = asking("proxy", "1Gi", { restartPolicy: "Always" });
    const pod = podOf({ containers: [asking("main", "2Gi")], initContainers: [sidecar] });
    expect(oomScoreOf(pod, sidecar, 4 * gibibyte)).toBe(500);
  });

  test("shares memory that only the pod asks for", () => {
    const container = asking("main", "1Gi");
    const pod = podOf({ containers: [container, { name: "b" }], resources: { requests: { memory: "3Gi" } } });
    expect(oomScoreOf(pod, container, 4 * gibibyte)).toBe(500);
  });
});
