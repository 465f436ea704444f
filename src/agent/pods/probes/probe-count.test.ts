import { expect, test } from "bun:test";
import { container, PodFixture } from "../testing.ts";

test("probes are counted by result over all runs, and how long the successful ones took", async () => {
  using node = new PodFixture();
  await node.open();
  node.runtime.scripts.set("web", { probe: (kind) => kind === "readiness" });
  const probe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 3 };
  await node.create("p", { containers: [container("web", { livenessProbe: probe, readinessProbe: probe })] });
  await node.create("q");
  await node.pass(3);
  const countsOf = (name: string) =>
    [...(node.manager.find("n", name)?.probes ?? [])].map(({ kind, ...count }) => [
      count.container,
      kind,
      count.successes,
      count.failures,
      count.durations.samples({}).at(-1)?.value,
    ]);
  expect(node.status("p").containerStatuses?.[0]?.restartCount).toBe(1);
  expect(countsOf("p")).toEqual([
    ["web", "liveness", 0, 3, 0],
    ["web", "readiness", 3, 0, 3],
  ]);
  expect(countsOf("q")).toEqual([]);
});
