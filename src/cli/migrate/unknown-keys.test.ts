import { expect, test } from "bun:test";
import { Scheme } from "../../kinds/scheme.ts";
import { systemClock } from "../../process/clock.ts";
import { ResourceTransformers } from "../../storage/encryption/resource-transformers.ts";
import type { EtcdClient } from "../../storage/etcd/client/etcd-client.ts";
import { KubernetesLayout } from "../../storage/etcd/layout/kubernetes-layout.ts";
import { unknownKeys } from "./unknown-keys.ts";

test("keys of no known resource are found on every page", async () => {
  const layout = new KubernetesLayout({
    infos: Scheme.builtIn().storedVersions(),
    mediaType: "application/json",
    kindOf: () => undefined,
    prefix: "/other",
    eventTtlSeconds: 1,
    transformers: new ResourceTransformers(),
    clock: systemClock,
  });
  const keys = [
    "/other/peerserverleases/a",
    "/other/pods/test/a",
    "/other/quorate/revision",
    "/other/storage.k8s.io/foos/a",
    "/other/things/a",
    "/other/things/b",
    "/other/widgets.example.com",
  ];
  const asked: string[] = [];
  const client = {
    repeat: async (_method: unknown, { key }: { key: Buffer }) => {
      asked.push(key.toString());
      const rest = keys.filter((one) => one >= key.toString());
      const kvs = rest.slice(0, 3).map((one) => ({ key: Buffer.from(one) }));
      return { header: { revision: 3 }, kvs, more: rest.length > 3 };
    },
  } as unknown as EtcdClient;
  expect(await unknownKeys(client, layout)).toEqual([
    "/other/things/a",
    "/other/things/b",
    "/other/widgets.example.com",
  ]);
  expect(asked).toEqual(["/other/", "/other/quorate/revision\0", "/other/things/b\0"]);
});
