import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tls from "node:tls";
import { type MemberId, toIndex, toMemberId, toTerm } from "../core/ids.ts";
import { membershipOf } from "../core/membership.ts";
import type { InstallSnapshot, Message } from "../core/message.ts";
import { makeCertificates, readCertificates } from "../example/certificates.ts";
import { until } from "../testing/until.ts";
import { encodeHello } from "./handshake.ts";
import { type Address, TlsTransport, type TlsTransportOptions } from "./tls-transport.ts";
import type { TransportEvents } from "./transport.ts";

const scratch = mkdtempSync(join(tmpdir(), "raft-tls-"));
const strangers = join(scratch, "strangers");
makeCertificates(scratch, [1, 2, 3]);
makeCertificates(strangers, [1, 2]);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const opened: TlsTransport[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});

interface Peer {
  readonly transport: TlsTransport;
  readonly received: Message[];
  readonly refusals: string[];
  readonly dropped: string[];
  readonly violations: string[];
}

type Directory = Map<MemberId, Address>;

async function open(
  id: number,
  directory: Directory,
  options: Partial<TlsTransportOptions> = {},
  events: Partial<TransportEvents> = {},
): Promise<Peer> {
  const transport = new TlsTransport({
    clusterId: "test",
    memberId: toMemberId(id),
    starts: 1,
    listen: { host: "127.0.0.1", port: 0 },
    addressOf: (member) => directory.get(member),
    tls: () => readCertificates(scratch, id),
    silenceMs: 400,
    ...options,
  });
  opened.push(transport);
  const [received, refusals, dropped, violations]: [Message[], string[], string[], string[]] = [[], [], [], []];
  await transport.start({
    receive: (message) => received.push(message),
    receiveSnapshot: async () => {},
    dropped: (_, reason) => dropped.push(reason),
    disconnected: () => {},
    violated: (member, { message }) => violations.push(`${member}: ${message}`),
    refused: (member, refusal) => refusals.push(`${member} ${refusal}`),
    ...events,
  });
  directory.set(toMemberId(id), directory.get(toMemberId(id)) ?? transport.address);
  return { transport, received, refusals, dropped, violations };
}

const ids = (...members: number[]) => members.map(toMemberId);

function heartbeat(from: number, to: number, round = 1): Message {
  return { type: "heartbeat", from: toMemberId(from), to: toMemberId(to), term: toTerm(1), commit: toIndex(0), round };
}

function append(from: number, to: number, size: number): Message {
  const entry = { index: toIndex(1), term: toTerm(1), kind: "normal" as const, data: Buffer.alloc(size, 5) };
  const place = { prevIndex: toIndex(0), prevTerm: toTerm(0), commit: toIndex(0) };
  return { type: "append", from: toMemberId(from), to: toMemberId(to), term: toTerm(1), ...place, entries: [entry] };
}

/** Waits until everything that member 1 has sent to member 2 has arrived, and forgets it. */
async function drained(one: Peer, two: Peer): Promise<void> {
  const last = [heartbeat(1, 2, 1_000), append(1, 2, 1_000)];
  one.transport.send(last);
  const hasArrived = (sent: Message) => two.received.some((message) => Bun.deepEquals(message, sent));
  await until(() => last.every(hasArrived), "the last message of each lane");
  two.received.length = 0;
}

/** Sends until a message arrives, because messages before the first connection are lost. */
async function reach(from: Peer, to: Peer, message: Message): Promise<void> {
  const before = to.received.length;
  await until(() => {
    if (to.received.length === before) from.transport.send([message]);
    return to.received.length > before;
  }, "a message");
}

async function pair(options: Partial<TlsTransportOptions> = {}, events: Partial<TransportEvents> = {}) {
  const directory: Directory = new Map();
  const one = await open(1, directory, options);
  const two = await open(2, directory, options, events);
  for (const { transport } of [one, two]) transport.setMembers(ids(1, 2));
  await reach(one, two, heartbeat(1, 2));
  await reach(two, one, heartbeat(2, 1));
  return { one, two, directory };
}

test("a member is gone when the last connection with it breaks, in either direction, and not before", async () => {
  const gone: MemberId[] = [];
  const broken: MemberId[] = [];
  const events = {
    gone: (member: MemberId) => gone.push(member),
    disconnected: (member: MemberId) => broken.push(member),
  };
  const { one, two, directory } = await pair({}, events);
  await reach(one, two, append(1, 2, 10));
  await reach(two, one, append(2, 1, 10));
  expect(gone).toEqual([]);
  directory.delete(toMemberId(1));
  await one.transport.close();
  await until(() => gone.length > 0, "it to be gone");
  expect(gone).toEqual(ids(1));
  expect(new Set(broken)).toEqual(new Set(ids(1)));
});

describe("messages", () => {
  test("arrive completely and in order on each lane, small ones ahead of large ones", async () => {
    const { one, two } = await pair();
    await reach(one, two, append(1, 2, 10));
    await drained(one, two);
    for (let round = 0; round < 20; round++) one.transport.send([append(1, 2, 1 << 20), heartbeat(1, 2, round)]);
    await until(() => two.received.length === 40, "all of them");
    const rounds = two.received.flatMap((message) => (message.type === "heartbeat" ? [message.round] : []));
    expect(rounds).toEqual(Array.from({ length: 20 }, (_, round) => round));
    const lastHeartbeat = two.received.findLastIndex(({ type }) => type === "heartbeat");
    const lastAppend = two.received.findLastIndex(({ type }) => type === "append");
    expect(lastHeartbeat).toBeLessThan(lastAppend);
    expect(two.received.find(({ type }) => type === "append")).toEqual(append(1, 2, 1 << 20));
  });

  test("to a member without a connection, or to a non-member, are dropped and reported", async () => {
    const directory: Directory = new Map();
    const one = await open(1, directory);
    one.transport.setMembers(ids(1, 2));
    one.transport.send([heartbeat(1, 2), heartbeat(1, 9)]);
    expect(one.dropped).toEqual(["notConnected", "unknown"]);
  });

  test("beyond the queue's limit are dropped and reported, and the lane continues", async () => {
    const { one, two } = await pair();
    await reach(one, two, append(1, 2, 10));
    await drained(one, two);
    for (let count = 0; count < 10; count++) one.transport.send([append(1, 2, 16 << 20)]);
    expect(one.dropped).toContain("queueFull");
    await until(
      () => two.received.length + one.dropped.filter((reason) => reason === "queueFull").length === 10,
      "the rest",
    );
    await reach(one, two, append(1, 2, 10));
  }, 60_000);

  test("arrive again after the other side was away", async () => {
    const { one, two, directory } = await pair();
    await two.transport.close();
    directory.delete(toMemberId(2));
    const again = await open(2, directory, { starts: 2 });
    again.transport.setMembers(ids(1, 2));
    await reach(one, again, heartbeat(1, 2));
  });

  test("detect a peer that vanished silently", async () => {
    const { one, two, directory } = await pair();
    const address = directory.get(toMemberId(2)) as Address;
    // A proxy that stops forwarding in both directions without closing a connection.
    let passing = true;
    const middle = net.createServer((near) => {
      const far = net.connect(address);
      near.on("data", (bytes) => passing && far.write(bytes));
      far.on("data", (bytes) => passing && near.write(bytes));
      for (const side of [near, far]) side.on("error", () => {});
    });
    await new Promise<void>((resolve) => middle.listen(0, "127.0.0.1", resolve));
    const lost: MemberId[] = [];
    const three = await open(3, directory, {}, { disconnected: (member) => lost.push(member) });
    directory.set(toMemberId(2), { host: "127.0.0.1", port: (middle.address() as net.AddressInfo).port });
    for (const { transport } of [one, two, three]) transport.setMembers(ids(1, 2, 3));
    await reach(three, two, heartbeat(3, 2));
    passing = false;
    await until(() => lost.includes(toMemberId(2)), "the silence to be noticed");
    middle.close();
  });
});

test("connections of a vanished peer do not accumulate", async () => {
  const { one, two } = await pair({ silenceMs: 40 });
  const { host, port } = two.transport.address;
  await one.transport.close();
  await new Promise<void>((resolve) => {
    const socket = tls.connect({ ...readCertificates(scratch, 1), host, port, servername: "member-2" });
    const hello = { kind: "control" as const, clusterId: "test", from: toMemberId(1), to: toMemberId(2) };
    socket.on("secureConnect", () => {
      const body = encodeHello({ ...hello, incarnation: { starts: 2, nonce: "silent" } });
      const length = Buffer.alloc(4);
      length.writeUInt32LE(body.length);
      socket.write(Buffer.concat([length, body]));
    });
    socket.on("data", () => {});
    socket.on("error", () => {});
    // Without that, the test ends by its time limit.
    socket.on("close", () => resolve());
  });
});

describe("attack 68: refused connections", () => {
  async function refusalOf(options: Partial<TlsTransportOptions>, members = ids(1, 2), id = 1): Promise<string[]> {
    const directory: Directory = new Map();
    const two = await open(2, directory);
    two.transport.setMembers(ids(1, 2));
    const other = await open(id, directory, options);
    other.transport.setMembers(members);
    other.transport.send([heartbeat(id, 2)]);
    await until(() => other.refusals.length > 0 || two.received.length > 0, "an answer");
    expect(two.received).toEqual([]);
    return other.refusals;
  }

  test("a member of another cluster", async () => {
    expect(await refusalOf({ clusterId: "other" })).toContain("2 wrongCluster");
  });

  test("a non-member", async () => {
    expect(await refusalOf({}, ids(2, 3), 3)).toContain("2 unknown");
  });

  test("a member that was removed before the other side started", async () => {
    const directory: Directory = new Map();
    const two = await open(2, directory, { wasRemoved: (member) => member === 3, addressOf: () => undefined });
    two.transport.setMembers(ids(2));
    const three = await open(3, directory);
    three.transport.setMembers(ids(2, 3));
    three.transport.send([heartbeat(3, 2)]);
    await until(() => three.refusals.includes("2 removed"), "the refusal");
    expect(two.refusals).toEqual([]);
  });

  test("a non-member, but not if it may have become a member: it is answered over its own connections", async () => {
    const directory: Directory = new Map();
    const two = await open(2, directory, { mayHaveJoined: (member) => member === 3, addressOf: () => undefined });
    two.transport.setMembers(ids(2));
    const three = await open(3, directory);
    three.transport.setMembers(ids(2, 3));
    await reach(three, two, heartbeat(3, 2));
    await reach(two, three, heartbeat(2, 3));
    await reach(three, two, append(3, 2, 10));
    await reach(two, three, append(2, 3, 10));
    two.transport.setMembers(ids(2, 3));
    two.transport.setMembers(ids(2));
    await until(() => three.refusals.includes("2 removed"), "the refusal");
  });

  test("a member that speaks for another than its certificate", async () => {
    expect(await refusalOf({ tls: () => readCertificates(scratch, 3) })).toContain("2 certificate");
  });

  test("a former member", async () => {
    const { one, two } = await pair();
    two.transport.setMembers(ids(2));
    await until(() => one.refusals.includes("2 removed"), "the refusal");
    two.received.length = 0;
    one.transport.send([heartbeat(1, 2)]);
    await Bun.sleep(50);
    expect(two.received).toEqual([]);
  });

  test("a second process of the same member while the first one is heard; a restarted one is not", async () => {
    const { one, two, directory } = await pair();
    const twin = await open(1, new Map(directory).set(toMemberId(1), { host: "127.0.0.1", port: 1 }), { starts: 2 });
    twin.transport.setMembers(ids(1, 2));
    await until(() => twin.refusals.includes("2 twin"), "the refusal");
    await one.transport.close();
    two.received.length = 0;
    await reach(twin, two, heartbeat(1, 2));
  });

  test("a process from an older copy of the member's directory, permanently", async () => {
    const { one, two, directory } = await pair({ starts: 5 });
    await one.transport.close();
    const copy = await open(1, directory, { starts: 5 });
    copy.transport.setMembers(ids(1, 2));
    await until(() => copy.refusals.includes("2 twin"), "the refusal");
    expect(two.received.length).toBe(1);
  });

  test("a certificate of another authority, no certificate, or no TLS", async () => {
    const directory: Directory = new Map();
    const two = await open(2, directory);
    two.transport.setMembers(ids(1, 2));
    const { host, port } = two.transport.address;
    const { ca } = readCertificates(scratch, 1);
    const attempts: tls.ConnectionOptions[] = [
      { ...readCertificates(strangers, 1), ca },
      { ca },
      { ...readCertificates(scratch, 1), maxVersion: "TLSv1.2" },
    ];
    for (const files of attempts) {
      const answered = await new Promise<boolean>((resolve) => {
        const socket = tls.connect({ ...files, host, port, servername: "member-2" });
        socket.on("data", () => resolve(true));
        socket.on("close", () => resolve(false));
        socket.on("error", () => resolve(false));
        socket.on("secureConnect", () => socket.write(Buffer.alloc(64)));
      });
      expect(answered).toBe(false);
    }
    const plain = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, host, () => socket.write("GET / HTTP/1.1\r\n\r\n"));
      socket.on("close", () => resolve(false));
      socket.on("error", () => resolve(false));
    });
    expect(plain).toBe(false);
    expect(two.received).toEqual([]);
  });

  test("invalid frames end their connection and are not delivered", async () => {
    const { two } = await pair();
    const received = two.received.length;
    const { host, port } = two.transport.address;
    for (const garbage of [Buffer.alloc(100, 255), Buffer.from([4, 0, 0, 0, 1, 2, 3, 4]), Buffer.alloc(5000)]) {
      await new Promise<void>((resolve) => {
        const socket = tls.connect({ ...readCertificates(scratch, 1), host, port, servername: "member-2" });
        socket.on("close", () => resolve());
        socket.on("error", () => {});
        socket.on("secureConnect", () => socket.write(garbage));
      });
    }
    expect(two.received.length).toBe(received);
    expect(two.violations).toEqual([
      "undefined: a frame of 4294967295 bytes is too large",
      "undefined: this is not a handshake",
      "undefined: a message is truncated",
    ]);
  });

  test("a message on the wrong connection closes it, and earlier messages stay", async () => {
    const { one, two } = await pair();
    const received = two.received.length;
    one.transport.send([{ ...heartbeat(1, 2), from: toMemberId(3) }]);
    await until(() => two.violations.length > 0, "the violation");
    expect(two.violations).toEqual(["1: a message does not belong on this connection"]);
    expect(two.received.length).toBe(received);
    await reach(one, two, heartbeat(1, 2));
  });

  test("an old certificate, until the new one is loaded", async () => {
    const directory: Directory = new Map();
    let certificate = 3;
    const two = await open(2, directory, { tls: () => readCertificates(scratch, certificate) });
    const one = await open(1, directory);
    for (const { transport } of [one, two]) transport.setMembers(ids(1, 2));
    await Bun.sleep(100);
    one.transport.send([heartbeat(1, 2)]);
    expect(one.dropped).toEqual(["notConnected"]);
    certificate = 2;
    two.transport.reloadCertificates();
    await reach(one, two, heartbeat(1, 2));
    await reach(two, one, heartbeat(2, 1));
  });

  test("only certificates of an authority that is no longer trusted are rejected, on open connections too", async () => {
    const directory: Directory = new Map();
    const { ca } = readCertificates(scratch, 2);
    const former = readCertificates(strangers, 1);
    let trusted = ca + former.ca;
    let ofOne = former;
    const gone: MemberId[] = [];
    const two = await open(
      2,
      directory,
      { tls: () => ({ ...readCertificates(scratch, 2), ca: trusted }) },
      { gone: (id) => gone.push(id) },
    );
    const one = await open(1, directory, { tls: () => ({ ...ofOne, ca: trusted }) });
    const three = await open(3, directory);
    for (const { transport } of [one, two, three]) transport.setMembers(ids(1, 2, 3));
    for (const other of [one, three]) {
      await reach(other, two, heartbeat(other === one ? 1 : 3, 2));
      await reach(two, other, heartbeat(2, other === one ? 1 : 3));
    }
    two.transport.reloadCertificates();
    await Bun.sleep(50);
    expect(gone).toEqual([]);
    trusted = ca;
    two.transport.reloadCertificates();
    await until(() => gone.length > 0, "the old connections to be closed");
    await Bun.sleep(100);
    two.received.length = 0;
    one.transport.send([heartbeat(1, 2)]);
    await Bun.sleep(50);
    expect([gone, two.received]).toEqual([ids(1), []]);
    ofOne = readCertificates(scratch, 1);
    one.transport.reloadCertificates();
    await reach(one, two, heartbeat(1, 2));
    await reach(two, one, heartbeat(2, 1));
    expect(gone).toEqual(ids(1));
  });

  test("a server with another member's certificate", async () => {
    const directory: Directory = new Map();
    const two = await open(2, directory, { tls: () => readCertificates(scratch, 3) });
    const one = await open(1, directory);
    for (const { transport } of [one, two]) transport.setMembers(ids(1, 2));
    one.transport.send([heartbeat(1, 2)]);
    await Bun.sleep(300);
    one.transport.send([heartbeat(1, 2)]);
    expect(two.received).toEqual([]);
    expect(one.dropped).toEqual(["notConnected", "notConnected"]);
  });
});

describe("snapshots", () => {
  const snapshot = { index: toIndex(9), term: toTerm(3), membership: membershipOf(ids(1, 2)) };
  const message: InstallSnapshot = {
    type: "snapshot",
    from: toMemberId(1),
    to: toMemberId(2),
    term: toTerm(3),
    snapshot,
  };

  async function* parts(count: number, size: number) {
    for (let part = 0; part < count; part++) yield Buffer.alloc(size, part);
  }

  async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string> {
    const hash = new Bun.CryptoHasher("sha256");
    for await (const chunk of chunks) hash.update(chunk);
    return hash.digest("hex");
  }

  test("arrive completely, beside messages that do not wait for them", async () => {
    const found: string[] = [];
    const { one, two } = await pair(
      {},
      { receiveSnapshot: async (_, chunks) => void found.push(await collect(chunks)) },
    );
    const sending = one.transport.sendSnapshot(message, parts(100, 300_000));
    const before = two.received.length;
    for (let round = 0; round < 20; round++) {
      one.transport.send([heartbeat(1, 2, round)]);
      await Bun.sleep(2);
    }
    await sending;
    await until(() => two.received.length === before + 20, "the heartbeats");
    expect(found).toEqual([await collect(parts(100, 300_000))]);
  });

  test("are not faster than allowed", async () => {
    const { one } = await pair(
      { snapshotBytesPerSecond: 4 << 20 },
      { receiveSnapshot: async (_, chunks) => void (await collect(chunks)) },
    );
    const begun = performance.now();
    await one.transport.sendSnapshot(message, parts(8, 1 << 18));
    expect(performance.now() - begun).toBeGreaterThan(400);
  });

  test("resume after their connection broke", async () => {
    const found: string[] = [];
    let read = 0;
    const { one, directory } = await pair(
      {},
      {
        receiveSnapshot: async (_, chunks) => {
          const hash = new Bun.CryptoHasher("sha256");
          for await (const chunk of chunks) {
            hash.update(chunk);
            await Bun.sleep(2);
          }
          found.push(hash.digest("hex"));
        },
      },
    );
    const address = directory.get(toMemberId(2)) as Address;
    const links = new Set<net.Socket>();
    const middle = net.createServer((near) => {
      const far = net.connect(address);
      near.pipe(far);
      far.pipe(near);
      links.add(near);
      for (const side of [near, far]) side.on("error", () => {});
      near.on("close", () => far.destroy());
    });
    await new Promise<void>((resolve) => middle.listen(0, "127.0.0.1", resolve));
    directory.set(toMemberId(2), { host: "127.0.0.1", port: (middle.address() as net.AddressInfo).port });
    async function* counted() {
      for await (const part of parts(60, 250_000)) {
        read++;
        yield part;
      }
    }
    const sending = one.transport.sendSnapshot(message, counted());
    for (const at of [10, 25, 40]) {
      await until(() => read >= at, "progress");
      for (const link of links) link.destroy();
      links.clear();
    }
    await sending;
    expect(found).toEqual([await collect(parts(60, 250_000))]);
    expect(read).toBe(60);
    middle.close();
  }, 60_000);

  test("report a failed installation to the sender", async () => {
    const { one } = await pair(
      {},
      {
        receiveSnapshot: async () => {
          throw new Error("no space is left");
        },
      },
    );
    await expect(one.transport.sendSnapshot(message, parts(3, 1000))).rejects.toThrow(/no space is left/);
  });

  test("that the receiver no longer needs end early", async () => {
    const { one } = await pair({}, { receiveSnapshot: async () => {} });
    await one.transport.sendSnapshot(message, parts(10_000, 100_000));
  });
});
