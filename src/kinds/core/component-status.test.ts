import { expect, test } from "bun:test";
import type { KubeObject } from "../../api/object-meta.ts";
import { componentStatuses } from "./component-status.ts";

const nowMs = Date.parse("2030-01-01T00:00:30Z");

function healthOf(name: string, { failure, lease }: { failure?: Error; lease?: object } = {}) {
  const object = lease === undefined ? undefined : ({ metadata: {}, spec: lease } as unknown as KubeObject);
  const computed = componentStatuses({
    store: { failure: failure as never },
    leases: { current: () => object },
    clock: { nowMs: () => nowMs },
  });
  const found = computed.list().find(({ metadata }) => metadata.name === name);
  return (found as unknown as { conditions: { status: string }[] }).conditions[0]?.status;
}

const lease = (second: number) => ({ renewTime: `2030-01-01T00:00:${second}.000000Z`, leaseDurationSeconds: 15 });

test.each([
  ["etcd-0", {}, "True"],
  ["etcd-0", { failure: new Error("disk") }, "False"],
  ["scheduler", {}, "Unknown"],
  ["scheduler", { lease: {} }, "Unknown"],
  ["scheduler", { lease: lease(20) }, "True"],
  ["controller-manager", { lease: lease(10) }, "False"],
])("%s with %j is healthy: %s", (name, state, status) => expect(healthOf(name, state)).toBe(status));
