import { afterEach, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http2, { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createSecureServer } from "node:tls";
import { certificatesIn } from "../../../../test/etcd/etcd-certificates.ts";
import { EtcdConnection } from "./etcd-connection.ts";
import { type EtcdSecrets, readSecrets } from "./etcd-credentials.ts";
import { parseEndpoints } from "./etcd-endpoint.ts";
import type { EtcdError } from "./etcd-error.ts";
import { messagePrefix } from "./grpc/message-reader.ts";
import { type Method, methods } from "./messages.ts";

const noSecrets: EtcdSecrets = { ca: null, certificate: null, key: null };

/** Sends bytes and gets bytes. */
const echo: Method<Uint8Array, Uint8Array> = {
  path: "/test/Echo",
  request: { encode: (bytes) => bytes, decode: (bytes) => bytes },
  response: { encode: (bytes) => bytes, decode: (bytes) => bytes.slice() },
};

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** Node's own HTTP/2, whose streams `answer` serves. Without `path`, it listens on a port. */
async function serve(answer: (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void, path?: string) {
  const server = http2.createServer();
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    answer(stream as ServerHttp2Stream, headers);
  });
  await new Promise<void>((resolve) => server.listen(path ?? 0, resolve));
  opened.defer(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { sessions, url: path === undefined ? `http://127.0.0.1:${portOf(server)}` : `unix://${path}` };
}

function portOf(server: Pick<Http2Server, "address">): number {
  return (server.address() as { port: number }).port;
}

function connect(url: string, secrets = noSecrets) {
  const ends: string[] = [];
  const [endpoint] = parseEndpoints([url], "--etcd-servers");
  const connection = new EtcdConnection(endpoint as never, secrets, (error) => ends.push(error.message));
  opened.use(connection);
  return { connection, ends };
}

/** Reads a request, and answers with it. */
function echoing(stream: ServerHttp2Stream): void {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(Buffer.concat(chunks));
  });
}

async function failureOf(promise: Promise<unknown>): Promise<EtcdError> {
  return (await promise.then(
    () => undefined,
    (error: unknown) => error,
  )) as EtcdError;
}

test("messages of all sizes go there and back, side by side", async () => {
  const { url } = await serve(echoing);
  const { connection } = connect(url);
  const sizes = [0, 1, 5_000, 16_379, 16_380, 65_530, 65_531, 300_000, 3_000_000];
  const answers = await Promise.all(
    sizes.map((size) => connection.call(echo, Buffer.alloc(size, String(size)), 20_000)),
  );
  expect(answers.map((answer) => answer.length)).toEqual(sizes);
  for (const [at, answer] of answers.entries()) {
    expect(Buffer.compare(answer, Buffer.alloc(sizes[at] as number, String(sizes[at])))).toBe(0);
  }
});

test("a socket's path is an address", async () => {
  const directory = await mkdtemp(join(tmpdir(), "quorate-etcd-socket-"));
  opened.defer(() => rm(directory, { recursive: true }));
  const { url } = await serve(echoing, join(directory, "etcd"));
  const { connection } = connect(url);
  expect(Buffer.from(await connection.call(echo, Buffer.from("hello"), 5_000)).toString()).toBe("hello");
});

test("requests name the server, their deadline, and that only members with a leader shall answer", async () => {
  const told = Promise.withResolvers<http2.IncomingHttpHeaders>();
  const { url } = await serve((stream, headers) => {
    told.resolve(headers);
    echoing(stream);
  });
  await connect(url).connection.call(echo, Buffer.alloc(1), 4_000);
  expect(await told.promise).toMatchObject({
    ":method": "POST",
    ":path": "/test/Echo",
    ":scheme": "http",
    ":authority": "127.0.0.1",
    "content-type": "application/grpc",
    te: "trailers",
    hasleader: "true",
    "grpc-timeout": "4000m",
  });
});

test("a status is an error with etcd's text", async () => {
  const { url } = await serve((stream) => {
    stream.respond(
      { ":status": 200, "grpc-status": "11", "grpc-message": "etcdserver: mvcc: required revision has been compacted" },
      { endStream: true },
    );
  });
  const failure = await failureOf(connect(url).connection.call(echo, Buffer.alloc(1), 5_000));
  expect(failure).toMatchObject({
    kind: "compacted",
    message: "etcdserver: mvcc: required revision has been compacted",
  });
});

test("a call without an answer ends with its time, and the server is told", async () => {
  const aborted = Promise.withResolvers<void>();
  const { url } = await serve((stream) => stream.on("close", () => aborted.resolve()));
  const { connection, ends } = connect(url);
  const failure = await failureOf(connection.call(echo, Buffer.alloc(1), 150));
  expect(failure).toMatchObject({ kind: "interrupted", message: `${url}: no answer within 150 ms` });
  await aborted.promise;
  expect({ isOpen: connection.isOpen, ends }).toEqual({ isOpen: true, ends: [] });
});

test("when the connection breaks, calls and watches are interrupted, and later ones are not sent", async () => {
  const arrived = Promise.withResolvers<void>();
  let streams = 0;
  const { url, sessions } = await serve(() => {
    if (++streams === 2) arrived.resolve();
  });
  const { connection, ends } = connect(url);
  const watched = Promise.withResolvers<EtcdError>();
  connection.watch({ key: "a", startRevision: 0 }, { response: () => {}, ended: watched.resolve });
  const call = failureOf(connection.call(echo, Buffer.alloc(1), 10_000));
  await arrived.promise;
  for (const session of sessions) session.destroy();
  expect((await call).kind).toBe("interrupted");
  expect((await watched.promise).kind).toBe("interrupted");
  expect(ends).toHaveLength(1);
  expect(connection.isOpen).toBe(false);
  expect((await failureOf(connection.call(echo, Buffer.alloc(1), 10_000))).kind).toBe("notSent");
  expect(() => connection.watch({ key: "a", startRevision: 0 }, { response: () => {}, ended: () => {} })).toThrow(
    expect.objectContaining({ kind: "notSent" }) as never,
  );
});

test("a connection that is given up answers what is under way if the server only leaves", async () => {
  const begun: ServerHttp2Stream[] = [];
  const arrived = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const { url } = await serve((stream) => {
    if (begun.push(stream) === 2) arrived.resolve();
  });
  const [endpoint] = parseEndpoints([url], "--etcd-servers");
  using connection = new EtcdConnection(endpoint as never, noSecrets, () => left.resolve());
  const watched = Promise.withResolvers<EtcdError>();
  connection.watch({ key: "a", startRevision: 0 }, { response: () => {}, ended: watched.resolve });
  const call = connection.call(echo, Buffer.from("hello"), 10_000);
  await arrived.promise;
  begun[1]?.session?.goaway(http2.constants.NGHTTP2_NO_ERROR, 3);
  await left.promise;
  connection.retire();
  expect(await watched.promise).toMatchObject({ kind: "interrupted" });
  echoing(begun[1] as ServerHttp2Stream);
  expect(Buffer.from(await call).toString()).toBe("hello");
});

test("a watch delivers messages until it is disposed of", async () => {
  const message = methods.watch.response.encode({ header: { clusterId: 1, memberId: 1, revision: 7 } } as never);
  const closed = Promise.withResolvers<void>();
  const { url } = await serve((stream) => {
    stream.on("close", () => closed.resolve());
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    for (let at = 0; at < 3; at++) stream.write(Buffer.concat([messagePrefix(message.byteLength), message]));
  });
  const got = Promise.withResolvers<void>();
  const revisions: number[] = [];
  const watch = connect(url).connection.watch(
    { key: "a", startRevision: 0 },
    {
      response: ({ header }) => {
        if (revisions.push(Number(header.revision)) === 3) got.resolve();
      },
      ended: () => revisions.push(-1),
    },
  );
  await got.promise;
  watch[Symbol.dispose]();
  await closed.promise;
  expect(revisions).toEqual([7, 7, 7]);
});

test("answers without a message, and servers that speak something else, are interruptions with a reason", async () => {
  const { url } = await serve((stream) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end();
  });
  const empty = await failureOf(connect(url).connection.call(echo, Buffer.alloc(1), 5_000));
  expect(empty).toMatchObject({ kind: "interrupted", message: `${url}: an answer without a message` });

  const other = createPlainServer((socket) => {
    socket.on("error", () => {});
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  await new Promise<void>((resolve) => other.listen(0, resolve));
  opened.defer(() => void other.close());
  const otherUrl = `http://127.0.0.1:${portOf(other)}`;
  const spoken = await failureOf(connect(otherUrl).connection.call(echo, Buffer.alloc(1), 5_000));
  expect(spoken.kind).toBe("interrupted");
  expect(spoken.message).toStartWith(`${otherUrl}: the server breaks the protocol: a frame of `);
});

test("nothing is sent to a server with another name, or without HTTP/2", async () => {
  const directory = await mkdtemp(join(tmpdir(), "quorate-etcd-tls-"));
  opened.defer(() => rm(directory, { recursive: true }));
  const files = await certificatesIn(directory, "etcd");
  const received: Buffer[] = [];
  const server = createSecureServer(
    { key: await readFile(files.key), cert: await readFile(files.certificate), ALPNProtocols: ["http/1.1"] },
    (socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => received.push(chunk));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, resolve));
  opened.defer(() => void server.close());
  const secrets = readSecrets(files);
  const call = (host: string) =>
    failureOf(connect(`https://${host}:${portOf(server)}`, secrets).connection.call(echo, Buffer.alloc(1), 5_000));
  expect((await call("127.0.0.1")).kind).toBe("interrupted");
  expect((await call("127.0.0.2")).message).toContain("127.0.0.2");
  expect(received).toEqual([]);
});
