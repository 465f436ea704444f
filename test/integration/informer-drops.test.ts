import { expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import type { ConfigMap } from "../../src/api/types/core-v1.ts";
import type { ResourceType } from "../../src/client/client.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { Informer } from "../../src/client/informer.ts";
import { NoAnswerError } from "../../src/client/transport.ts";
import { startServer } from "../../src/index.ts";
import { systemClock } from "../../src/process/clock.ts";

const configMaps: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };
const namespace = "default";
const rounds = 5;

test("an informer misses nothing when its connections break, and tells nothing twice", async () => {
  const server = await startServer({ controllers: "*,-root-ca-certificate-publisher-controller" });
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(server.port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { token, ca } = server;
  using client = httpClient({
    url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    proof: async () => ({ tls: { ca, rejectUnauthorized: true }, authorization: `Bearer ${token}` }),
    renew: () => false,
  });
  const told: string[] = [];
  const errors: unknown[] = [];
  let heard = Promise.withResolvers<void>();
  using informer = new Informer({
    client,
    type: configMaps,
    selector: { namespace },
    clock: systemClock,
    random: () => 0,
    added: ({ metadata }) => {
      told.push(metadata.name ?? "");
      heard.resolve();
    },
    onError: (error) => errors.push(error),
  });
  await informer.synced;
  using direct = server.client();
  for (let round = 0; round < rounds; round++) {
    heard = Promise.withResolvers();
    for (const socket of sockets) socket.destroy();
    const metadata = { name: `c-${round}`, namespace };
    await direct.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
    await heard.promise;
  }
  expect(told).toEqual(["c-0", "c-1", "c-2", "c-3", "c-4"]);
  expect(errors.length).toBeGreaterThanOrEqual(1);
  for (const error of errors) expect(error).toBeInstanceOf(NoAnswerError);
  informer[Symbol.dispose]();
  client[Symbol.dispose]();
  proxy.close();
  await server.close({ graceMs: 500 });
});
