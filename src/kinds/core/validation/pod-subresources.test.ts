import { describe, expect, test } from "bun:test";
import { fieldErrorText } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import type { Strategy } from "../../../registry/strategy.ts";
import { podEphemeralContainersStrategy, podResizeStrategy, podStatusStrategy } from "../pod.ts";

const mirror = { "kubernetes.io/config.mirror": "x" };

function pod(spec: JsonObject, more: Partial<KubeObject> = {}): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec, ...more };
}

/** The write through a strategy: the object as it would be stored, and what is wrong with it. */
function write(strategy: Strategy, fresh: KubeObject, old: KubeObject): { object: KubeObject; errors: string[] } {
  strategy.prepareForUpdate(fresh, old, 0);
  return { object: fresh, errors: strategy.validateUpdate(fresh, old).map(fieldErrorText) };
}

function container(name: string, resources?: JsonObject, more: JsonObject = {}): JsonObject {
  return { name, image: "i", ...(resources && { resources }), ...more };
}

const one = { requests: { cpu: "1" } };
const two = { requests: { cpu: "2" } };
const limited = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };

describe("pods/resize", () => {
  test("changes cpu and memory, and nothing else of the pod", () => {
    const old = pod({ containers: [container("a", one)], nodeName: "n1" }, { status: { phase: "Running" } });
    const fresh = pod(
      { containers: [container("a", two)], nodeName: "n2" },
      { metadata: { name: "p", labels: { a: "b" } }, status: { phase: "Running" } },
    );
    const { object, errors } = write(podResizeStrategy, fresh, old);
    expect(errors).toEqual([]);
    expect(object).toEqual(
      pod({ containers: [container("a", two)], nodeName: "n1" }, { status: { phase: "Running" } }),
    );
  });

  const cases: [string, JsonObject, JsonObject, Partial<KubeObject>, string[]][] = [
    [
      "a container more",
      { containers: [container("a", one), container("b")] },
      { containers: [container("a", one)] },
      {},
      ["spec.containers: Forbidden: containers may not be added or removed on resize"],
    ],
    [
      "no containers",
      { containers: null },
      { containers: [container("a")] },
      {},
      ["spec.containers: Forbidden: containers may not be added or removed on resize"],
    ],
    [
      "other names",
      { containers: [container("b", one)] },
      { containers: [container("a", one)] },
      {},
      ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"],
    ],
    [
      "another quality of service",
      { containers: [container("a", limited)] },
      { containers: [container("a", { ...limited, requests: { cpu: "500m", memory: "1Gi" } })] },
      {},
      ['spec: Invalid value: "": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      "a request that is gone",
      { containers: [container("a", { requests: { cpu: "1" } })] },
      { containers: [container("a", { requests: { cpu: "1", memory: "1Gi" } })] },
      {},
      ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
    ],
    [
      "storage",
      { containers: [container("a", { requests: { cpu: "1", "ephemeral-storage": "2Gi" } })] },
      { containers: [container("a", { requests: { cpu: "1", "ephemeral-storage": "1Gi" } })] },
      {},
      ["spec: Forbidden: only cpu and memory resources are mutable"],
    ],
    [
      "an init container that ends",
      { containers: [container("a", one)], initContainers: [container("i", two)] },
      { containers: [container("a", one)], initContainers: [container("i", one)] },
      {},
      ["spec: Forbidden: resources for non-sidecar init containers are immutable"],
    ],
    [
      "a sidecar, which may be resized",
      { containers: [container("a", one)], initContainers: [container("i", two, { restartPolicy: "Always" })] },
      { containers: [container("a", one)], initContainers: [container("i", one, { restartPolicy: "Always" })] },
      {},
      [],
    ],
    [
      "a static pod",
      { containers: [container("a", two)] },
      { containers: [container("a", one)] },
      { metadata: { name: "p", annotations: mirror } },
      [": Forbidden: static pods cannot be resized"],
    ],
    [
      "Windows",
      { containers: [container("a", two)] },
      { containers: [container("a", one)], os: { name: "windows" } },
      {},
      [": Forbidden: windows pods cannot be resized"],
    ],
    [
      "a node of old",
      { containers: [container("a", two)] },
      { containers: [container("a", one)] },
      { status: { containerStatuses: [{ name: "a", state: { running: {} } }] } },
      ["spec: Forbidden: Pod running on node without support for resize"],
    ],
  ];
  test.each(cases)("with %s", (_name, fresh, old, more, expected) => {
    expect(write(podResizeStrategy, pod(fresh), pod(old, more)).errors).toEqual(expected);
  });
});

describe("pods/ephemeralcontainers", () => {
  const debug = (name: string, image = "i") => ({ name, image });

  test("adds containers, and changes nothing else of the pod", () => {
    const old = pod({ containers: [container("a")], ephemeralContainers: [debug("x")] });
    const fresh = pod({ containers: [container("a", one)], ephemeralContainers: [debug("y"), debug("x")] });
    const { object, errors } = write(podEphemeralContainersStrategy, fresh, old);
    expect(errors).toEqual([]);
    expect(object).toEqual(pod({ containers: [container("a")], ephemeralContainers: [debug("y"), debug("x")] }));
  });

  test.each([
    [[], {}, ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "x" may not be removed\n']],
    [
      [debug("x", "j")],
      {},
      ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "x" may not be changed\n'],
    ],
    [[debug("x")], mirror, [": Forbidden: static pods do not support ephemeral containers"]],
  ])("to %j of a pod with annotations %j", (containers, annotations, expected) => {
    const old = pod({ ephemeralContainers: [debug("x")] }, { metadata: { name: "p", annotations } });
    expect(write(podEphemeralContainersStrategy, pod({ ephemeralContainers: containers }), old).errors).toEqual(
      expected,
    );
  });
});

describe("pods/status", () => {
  const ended = (exitCode: number) => [{ name: "a", state: { terminated: { exitCode } } }];
  const running = [{ name: "a", state: { running: {} } }];

  test("keeps the spec and the quality of service", () => {
    const old = pod({ nodeName: "n1" }, { status: { phase: "Pending", qosClass: "BestEffort" } });
    const { object, errors } = write(podStatusStrategy, pod({ nodeName: "n2" }, { status: { phase: "Running" } }), old);
    expect(errors).toEqual([]);
    expect(object).toEqual(pod({ nodeName: "n1" }, { status: { phase: "Running", qosClass: "BestEffort" } }));
  });

  const forbidden = ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"];
  test.each([
    ["Always", 0, []],
    ["Always", 1, []],
    ["OnFailure", 1, []],
    ["OnFailure", 0, forbidden],
    ["Never", 1, forbidden],
  ] as const)(
    "under restartPolicy %s lets a container with exit code %d run again: errors %j",
    (restartPolicy, exitCode, expected) => {
      const spec = { restartPolicy, containers: [container("a")] };
      const old = pod(spec, { status: { containerStatuses: ended(exitCode) } });
      expect(write(podStatusStrategy, pod(spec, { status: { containerStatuses: running } }), old).errors).toEqual([
        ...expected,
      ]);
    },
  );

  test.each([
    [{ qosClass: "Burstable" }, ['status.qosClass: Invalid value: "Burstable": field is immutable']],
    [
      { nominatedNodeName: "N" },
      [expect.stringContaining('status.nominatedNodeName: Invalid value: "N": a lowercase RFC 1123')],
    ],
    [
      { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] },
      [expect.stringContaining("may specify no more than one IP for each IP family")],
    ],
    [{ podIPs: [{ ip: "nowhere" }] }, [expect.stringContaining('status.podIPs[0]: Invalid value: "nowhere"')]],
    [{ podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] }, []],
  ])("with %j", (status, expected) => {
    const old = pod({ restartPolicy: "Always" }, { status: { qosClass: "BestEffort" } });
    expect(write(podStatusStrategy, pod({}, { status }), old).errors).toEqual(expected);
  });
});
