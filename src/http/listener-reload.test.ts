import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import http2, { type ClientHttp2Session } from "node:http2";
import { type AddressInfo, connect as connectTcp, createServer } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { until } from "../../test/until.ts";
import { createAuthority, type TestAuthority, type TestCertificate } from "./listener/testing.ts";
import { type Listener, listen } from "./listener.ts";

/** Tests how a reload without the authority of a client, bob, affects his connections. */

let authority: TestAuthority;
let strangers: TestAuthority;
let server: TestCertificate;
let bob: TestCertificate;
let peers: string[];
let gate: PromiseWithResolvers<void>;
const opened: { close(graceMs: number): unknown }[] = [];

beforeAll(async () => {
  [authority, strangers] = await Promise.all([createAuthority("CN=ca"), createAuthority("CN=other")]);
  server = await authority.issue("CN=server", { usage: "server" });
  bob = await strangers.issue("CN=bob");
});
beforeEach(() => {
  peers = [];
  gate = Promise.withResolvers();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close(0)));
});

/** Trusts both authorities; a request for "/slow" waits for the gate. */
async function start(): Promise<Listener> {
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    tls: { ...server, ca: [authority.cert, strangers.cert] },
    handle: async ({ rawPath, peer }) => {
      peers.push(`${rawPath} ${peer.kind}`);
      if (rawPath === "/slow") await gate.promise;
      return { kind: "reply", code: 200, headers: [], body: new Uint8Array(2) };
    },
  });
  opened.push(listener);
  return listener;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

function session({ port }: Listener): ClientHttp2Session {
  const made = http2.connect(`https://127.0.0.1:${port}`, { ca: authority.cert, ...bob });
  made.on("error", () => {});
  opened.push({ close: () => made.destroy() });
  return made;
}

/** Returns the status code of the answer; undefined if there is none. */
function send(on: ClientHttp2Session, path: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  try {
    const stream = on.request({ ":path": path });
    stream.on("response", (head) => resolve(Number(head[":status"])));
    stream.on("error", () => resolve(undefined));
    stream.on("close", () => resolve(undefined));
    stream.resume();
  } catch {
    resolve(undefined);
  }
  return promise;
}

/** HTTP/1.1. */
function asBob(port: number): { socket: TLSSocket; closed: Promise<void>; text: () => string } {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const socket = connect({ port, host: "127.0.0.1", ca: authority.cert, ALPNProtocols: ["http/1.1"], ...bob });
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.on("error", () => {});
  socket.on("close", () => resolve());
  return { socket, closed, text: () => text };
}

test("ends an HTTP/1.1 connection after the current request, and ignores later ones", async () => {
  const listener = await start();
  const { socket, closed, text } = asBob(listener.port);
  socket.write(get("/slow"));
  await until(() => peers.length === 1);
  listener.reload({ ...server, ca: [authority.cert] });
  socket.write(get("/next"));
  await Bun.sleep(20);
  gate.resolve();
  await closed;
  expect(text()).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(peers[0]).toBe("/slow verified");
  expect(peers).not.toContain("/next verified");
});

test("refuses requests of an HTTP/2 connection that were on their way", async () => {
  const listener = await start();
  const one = session(listener);
  const slow = send(one, "/slow");
  await until(() => peers.length === 1);
  listener.reload({ ...server, ca: [authority.cert] });
  const next = send(one, "/next");
  await Bun.sleep(20);
  gate.resolve();
  expect(await slow).toBe(200);
  await next;
  expect(peers).not.toContain("/next verified");
});

/** Makes a connection of bob's that shows its certificate when the gate opens. Resolves when it is on its way. */
async function shakingHands(listener: Listener) {
  let passing = true;
  let held = 0;
  const middle = createServer((near) => {
    const far = connectTcp(listener.port, "127.0.0.1");
    far.on("data", (bytes) => {
      // The server has sent its whole part of the handshake. The client's answer contains its certificate.
      passing = false;
      near.write(bytes);
    });
    near.on("data", (bytes) => {
      if (passing) far.write(bytes);
      else {
        held++;
        void gate.promise.then(() => far.write(bytes));
      }
    });
    for (const side of [near, far]) side.on("error", () => {});
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => middle.listen(0, "127.0.0.1", resolve));
  opened.push({ close: () => middle.close() });
  const bobs = asBob((middle.address() as AddressInfo).port);
  bobs.socket.write(get("/"));
  await until(() => held > 0);
  return bobs;
}

test("ends a handshake that was begun before", async () => {
  const listener = await start();
  const { closed } = await shakingHands(listener);
  listener.reload({ ...server, ca: [authority.cert] });
  gate.resolve();
  await closed;
  expect(peers).toEqual([]);
});

test("ends no handshake with a certificate of an authority that stays", async () => {
  const listener = await start();
  const { socket, text } = await shakingHands(listener);
  const another = await createAuthority("CN=another");
  listener.reload({ ...server, ca: [authority.cert, strangers.cert, another.cert] });
  listener.reload({ ...server, ca: [strangers.cert] });
  gate.resolve();
  await until(() => text().startsWith("HTTP/1.1 200 ") || socket.destroyed);
  expect(peers).toEqual(["/ verified"]);
  socket.destroy();
});

test("leaves those of an authority that was renewed with its key", async () => {
  const listener = await start();
  const one = session(listener);
  expect(await send(one, "/")).toBe(200);
  const renewed = await strangers.renewed();
  expect(renewed).not.toBe(strangers.cert);
  listener.reload({ ...server, ca: [authority.cert, renewed] });
  await send(one, "/");
  expect(peers).toEqual(["/ verified", "/ verified"]);
});
