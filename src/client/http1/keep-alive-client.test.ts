import { afterAll, expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { createAuthority, issueCertificate } from "../../access/certificates/authority.ts";
import { systemClock } from "../../process/clock.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { KeepAliveClient } from "./keep-alive-client.ts";

const hourMs = 3_600_000;
const validity = { notBeforeMs: Date.now() - hourMs, notAfterMs: Date.now() + hourMs };
const authority = createAuthority({ commonName: "an authority", ...validity });
const pair = issueCertificate(authority, {
  ...validity,
  commonName: "server",
  organizations: [],
  usage: "server",
  dnsNames: [],
  ipAddresses: ["127.0.0.1"],
});
const servers: Server[] = [];

afterAll(() => {
  for (const server of servers) server.close();
});

const request = "GET / HTTP/1.1\r\n\r\n";
const answerOf = (body: string, more = "") => `HTTP/1.1 200 OK\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;

/** Counts the connections of a server, and hands each request to `answer` with the number of its connection. */
async function serve(answer: (socket: TLSSocket, connection: number, text: string) => void) {
  const sockets: TLSSocket[] = [];
  const server = createServer({ cert: pair.certificate, key: pair.key }, (socket) => {
    const connection = sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => answer(socket, connection, String(bytes)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { sockets, target: { host: "127.0.0.1", port: (server.address() as AddressInfo).port } };
}

function sender(target: { host: string; port: number }, client = new KeepAliveClient(systemClock)) {
  return async (text = request, tls: object = {}, signal = new AbortController().signal) => {
    const answer = await client.send({
      target,
      tls: { ca: authority.certificate, ...tls },
      text,
      answerBytesMax: 1_000,
      signal,
    });
    return Buffer.from(answer.body).toString();
  };
}

/** Waits until the other side has noticed. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1);
}

test("requests one after another share a connection; those side by side do not", async () => {
  const { target, sockets } = await serve((socket, connection) => socket.write(answerOf(`on ${connection}`)));
  const send = sender(target);
  expect([await send(), await send()]).toEqual(["on 1", "on 1"]);
  expect((await Promise.all([send(), send(), send()])).toSorted()).toEqual(["on 1", "on 2", "on 3"]);
  await Promise.all([send(), send(), send()]);
  expect(sockets.length).toBe(3);
});

test("a connection belongs to one certificate", async () => {
  const { target } = await serve((socket, connection) => socket.write(answerOf(`on ${connection}`)));
  const send = sender(target);
  const own = { cert: pair.certificate, key: pair.key };
  expect([await send(), await send(request, own), await send(request, own), await send()]).toEqual([
    "on 1",
    "on 2",
    "on 2",
    "on 1",
  ]);
});

test("a request is sent again if its kept connection was closed before an answer", async () => {
  const { target } = await serve((socket, connection, text) => {
    if (connection === 1 && text !== request) socket.destroy();
    else socket.write(answerOf(`on ${connection}`));
  });
  const send = sender(target);
  expect([await send(), await send("second"), await send()]).toEqual(["on 1", "on 2", "on 2"]);
});

test("a request is not sent again after part of an answer, nor if a new connection is closed", async () => {
  const { target, sockets } = await serve((socket, _connection, text) => {
    if (text === request) socket.write(answerOf("x"));
    else if (text === "part") socket.end("HTTP/1.1 200 OK\r\n");
    else socket.end();
  });
  const send = sender(target);
  await send();
  await expect(send("part")).rejects.toMatchObject({ code: "ECONNRESET" });
  await expect(send("nothing")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(sockets.length).toBe(2);
});

test("a connection that the server closes, or on which it says too much, is given up", async () => {
  const answers = [answerOf("1", "connection: close\r\n"), `${answerOf("2")}HTTP/1.1 200`, "HTTP/1.1 200 OK\r\n\r\n3"];
  const { target, sockets } = await serve((socket, connection) => {
    socket.write(answers[connection - 1] ?? answerOf("4"));
    if (connection === 3) socket.end();
  });
  const send = sender(target);
  expect([await send(), await send(), await send(), await send(), await send()]).toEqual(["1", "2", "3", "4", "4"]);
  expect(sockets.length).toBe(4);
});

test("an answer that nobody asked for closes a kept connection", async () => {
  const { target, sockets } = await serve((socket, connection) => socket.write(answerOf(`on ${connection}`)));
  const send = sender(target);
  await send();
  sockets[0]?.write(answerOf("poison"));
  await until(() => sockets[0]?.destroyed === true);
  expect(await send()).toBe("on 2");
});

test("an abort ends the request and its connection, also while it is being opened", async () => {
  const { target, sockets } = await serve((socket, connection) => {
    if (connection === 2) socket.write(answerOf("x"));
  });
  const send = sender(target);
  const abort = new AbortController();
  const late = send(request, {}, abort.signal);
  await until(() => sockets.length === 1);
  abort.abort(new Error("enough"));
  await expect(late).rejects.toThrow("enough");
  await until(() => sockets[0]?.destroyed === true);
  const opening = new AbortController();
  const never = send(request, {}, opening.signal);
  opening.abort(new Error("never mind"));
  await expect(never).rejects.toThrow("never mind");
  await expect(send(request, {}, AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
});

test("nothing is sent to a server that does not prove who it is", async () => {
  let isSent = false;
  const { target } = await serve(() => (isSent = true));
  const send = sender(target);
  await expect(send(request, { ca: undefined })).rejects.toThrow();
  await expect(send(request, { serverName: "other.example" })).rejects.toThrow();
  await Bun.sleep(20);
  expect(isSent).toBe(false);
});

test("idle connections are closed after their time", async () => {
  const { target, sockets } = await serve((socket, connection) => socket.write(answerOf(`on ${connection}`)));
  const clock = new ManualClock();
  const send = sender(target, new KeepAliveClient(clock));
  await send();
  clock.advance(89_000);
  expect(await send()).toBe("on 1");
  clock.advance(91_000);
  clock.advance(45_000);
  await until(() => sockets[0]?.destroyed === true);
  expect(await send()).toBe("on 2");
});
