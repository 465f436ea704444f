import { expect, test } from "bun:test";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { FakeServer } from "../files/testing.ts";
import { SimulatedFiles } from "./simulated-files.ts";

const pod: Pod = { kind: "Pod", apiVersion: "v1", metadata: { name: "p", namespace: "shop", uid: "u" } };
const container: Container = {
  name: "main",
  envFrom: [{ configMapRef: { name: "empty" } }, { secretRef: { name: "keys" } }],
};

test("variables come from ConfigMaps, also from one without data, and from Secrets", async () => {
  const server = new FakeServer();
  server.set("configmaps", { metadata: { name: "empty", namespace: "shop" } });
  server.set("secrets", { metadata: { name: "keys", namespace: "shop" }, data: { KEY: btoa("hidden") } });
  const parts = { client: server, clock: new ManualClock(), random: () => 0, onError() {} };
  using files = new SimulatedFiles(parts);
  const ofNode = files.ofNode(
    () => undefined,
    () => [],
  );
  expect(await ofNode.environmentOf(pod, container, [])).toEqual([["KEY", "hidden"]]);
});
