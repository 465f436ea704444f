import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CuttableNetwork } from "../../../../test/etcd/cuttable-network.ts";
import { certificatesIn } from "../../../../test/etcd/etcd-certificates.ts";
import { EtcdMember, hasEtcd } from "../../../../test/etcd/etcd-member.ts";
import { until } from "../../../../test/until.ts";
import { systemClock } from "../../../process/clock.ts";
import { wholeKeySpace } from "../key-range.ts";
import { EtcdClient, type EtcdClientOptions } from "./etcd-client.ts";
import { parseEndpoints } from "./etcd-endpoint.ts";
import { methods, numberOf } from "./messages.ts";

setDefaultTimeout(30_000);

const noFiles = { ca: undefined, certificate: undefined, key: undefined };

function clientOf(urls: readonly string[], options: Partial<EtcdClientOptions> = {}): EtcdClient {
  const endpoints = parseEndpoints(urls, "--etcd-servers");
  return new EtcdClient({ endpoints, files: noFiles, clock: systemClock, ...options });
}

test("nobody listens: a call ends with its time, and says so", async () => {
  using client = clientOf(["http://127.0.0.1:1"]);
  expect(await client.connected(200)).toBe(false);
  const call = client.call(methods.range, { key: "a" }, 100);
  await expect(call).rejects.toMatchObject({
    kind: "notSent",
    message: "http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1",
  });
});

if (hasEtcd("etcd-client.test.ts")) {
  test("a call of a client that is closed in the same turn was not sent", async () => {
    await using member = await EtcdMember.start();
    const client = clientOf([member.url]);
    expect(await client.connected(5_000)).toBe(true);
    const call = client.call(methods.range, { key: "a" }, 5_000);
    client[Symbol.dispose]();
    await expect(call).rejects.toMatchObject({ kind: "notSent" });
  });

  test("requests go to a member that answers, and come back to one that does again", async () => {
    await using member = await EtcdMember.start();
    await using network = await CuttableNetwork.open(member.clientPort);
    const changes: string[] = [];
    using client = clientOf(["http://127.0.0.1:1", network.url], {
      onChange: (change) => changes.push("to" in change ? change.to : "none"),
    });
    const read = () => client.repeat(methods.range, { key: "a" }, 10_000);
    expect(numberOf((await read()).header.revision)).toBe(1);
    network.cut();
    const interrupted = read();
    await Bun.sleep(1_500);
    network.reset();
    network.heal();
    expect((await interrupted).kvs).toEqual([]);
    expect(changes[0]).toBe(network.url);
    expect(changes.at(-1)).toBe(network.url);
  });

  test("a member that stalls and has no replacement still answers what it was asked, and its watch goes on", async () => {
    await using member = await EtcdMember.start();
    const changes: string[] = [];
    using client = clientOf([member.url], {
      onChange: (change) => changes.push("to" in change ? change.to : "none"),
    });
    await client.status(5_000);
    const ends: unknown[] = [];
    using _watch = client.watch(
      { ...wholeKeySpace, startRevision: 1 },
      { response: () => {}, ended: (e) => ends.push(e) },
    );
    member.pause();
    const asked = client.call(methods.range, { key: "a" }, 20_000);
    await until(() => client.failure !== undefined);
    member.resume();
    expect((await asked).kvs).toEqual([]);
    expect(await client.connected(5_000)).toBe(true);
    expect(ends).toEqual([]);
    expect(changes).toEqual([member.url, "none", member.url]);
  });

  test("keys of other programs need not be text", async () => {
    await using member = await EtcdMember.start();
    using connection = member.connect();
    const odd = {
      ...methods.range,
      path: "/etcdserverpb.KV/Put",
      request: { ...methods.range.request, encode: () => oddPut },
    };
    await connection.call(odd, { key: "" }, 5_000);
    const { kvs } = await connection.call(methods.range, { key: "\0", rangeEnd: "\0" }, 5_000);
    expect(kvs).toHaveLength(1);
  });

  describe("TLS", () => {
    test("a client certificate opens the connection; without one, or with another authority, the reason is told", async () => {
      const directory = await mkdtemp(join(tmpdir(), "quorate-etcd-tls-"));
      const tls = await certificatesIn(directory, "etcd");
      const stranger = await certificatesIn(directory, "stranger");
      await using member = await EtcdMember.start({ tls });
      using good = clientOf([member.url], { files: tls });
      expect((await good.status(5_000)).version).toMatch(/^3\./);
      using strange = clientOf([member.url], { files: stranger });
      expect(await strange.connected(1_500)).toBe(false);
      expect(strange.failure).toContain(member.url);
      using bare = clientOf([member.url], { files: { ...noFiles, ca: tls.ca } });
      expect(await bare.connected(1_500)).toBe(false);
      await rm(directory, { recursive: true });
    });
  });
}

/** A PutRequest with the key FF FE and the value 00. */
const oddPut = Buffer.from([0x0a, 0x02, 0xff, 0xfe, 0x12, 0x01, 0x00]);
