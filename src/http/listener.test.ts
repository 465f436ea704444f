import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { connect, type TLSSocket } from "node:tls";
import type { ByteSink, HttpResponse, IncomingRequest, PeerCertificate } from "../request/exchange.ts";
import { createAuthority, type TestAuthority, type TestCertificate } from "./listener/testing.ts";
import { type Listener, type ListenerOptions, listen } from "./listener.ts";

let authority: TestAuthority;
let strangers: TestAuthority;
let server: TestCertificate;
let alice: TestCertificate;
const listeners: Listener[] = [];
const sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  [authority, strangers] = await Promise.all([createAuthority("CN=ca"), createAuthority("CN=other")]);
  server = await authority.issue("CN=server", { usage: "server" });
  alice = await authority.issue('CN=alice,O=dev,O="a, b"');
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await Promise.all(listeners.splice(0).map((listener) => listener.close(0)));
});

type Handle = ListenerOptions["handle"];
const encoder = new TextEncoder();
const reply = (body: string, headers: [string, string][] = []): HttpResponse => ({
  kind: "reply",
  code: 200,
  headers,
  body: encoder.encode(body),
});

async function start(handle: Handle, options: Partial<ListenerOptions> = {}): Promise<Listener> {
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    tls: { ...server, ca: [authority.cert] },
    handle,
    ...options,
  });
  listeners.push(listener);
  return listener;
}

function session(listener: Listener, client?: TestCertificate): ClientHttp2Session {
  const opened = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: authority.cert, ...client });
  opened.on("error", () => {});
  sessions.push(opened);
  return opened;
}

interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function send(on: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string | Uint8Array): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const stream = on.request(headers, { endStream: body === undefined });
  const chunks: Buffer[] = [];
  let head: IncomingHttpHeaders = {};
  stream.on("response", (received) => (head = received));
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () =>
    resolve({ code: Number(head[":status"]), headers: head, body: Buffer.concat(chunks).toString() }),
  );
  stream.on("error", reject);
  stream.on("close", () => reject(new Error(`closed with ${stream.rstCode}`)));
  if (body !== undefined) stream.end(body);
  return promise;
}

/** Returns the bytes that the server writes on one raw HTTP/1.1 connection until it closes it, or for `waitMs`. */
function raw(listener: Listener, text: string, waitMs = 150): Promise<{ text: string; closed: boolean }> {
  const { promise, resolve } = Promise.withResolvers<{ text: string; closed: boolean }>();
  const socket: TLSSocket = connect(
    { port: listener.port, host: "127.0.0.1", ca: authority.cert, ALPNProtocols: ["http/1.1"] },
    () => {
      if (text !== "") socket.write(text);
    },
  );
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString("latin1")));
  const timer = setTimeout(() => {
    resolve({ text: received, closed: false });
    socket.destroy();
  }, waitMs);
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(timer);
    resolve({ text: received, closed: true });
  });
  return promise;
}

const echoBody: Handle = async (request) => reply(String((await request.body()).byteLength));

describe("the client certificate", () => {
  const seen: PeerCertificate[] = [];
  const handle: Handle = async ({ peer }) => {
    seen.push(peer);
    return reply("");
  };
  const judged = async (client?: TestCertificate): Promise<PeerCertificate> => {
    const listener = await start(handle);
    await send(session(listener, client), { ":path": "/" });
    return seen.pop() as PeerCertificate;
  };

  test("a good one gives common name and every organization", async () => {
    expect(await judged(alice)).toMatchObject({
      kind: "verified",
      commonName: "alice",
      organizations: ["dev", "a, b"],
    });
  });

  test("none is none", async () => {
    expect(await judged()).toEqual({ kind: "none" });
  });

  test("one of another authority, expired, or not for clients is rejected, but the client connects", async () => {
    const bad = await Promise.all([
      strangers.issue("CN=alice"),
      authority.issue("CN=alice", { notAfter: new Date(Date.now() - 1000) }),
      authority.issue("CN=alice", { usage: "server" }),
      authority.issue("CN=alice", { usage: "none" }),
    ]);
    for (const client of bad) expect((await judged(client)).kind).toBe("rejected");
  });

  test("HTTP/1.1 has it too", async () => {
    const listener = await start(handle);
    await fetch(`https://127.0.0.1:${listener.port}/`, { tls: { ca: authority.cert, ...alice } });
    expect(seen.pop()).toMatchObject({ kind: "verified", commonName: "alice" });
  });
});

describe("HTTP/2", () => {
  test("path, repeated headers and body arrive as they were sent", async () => {
    let request: IncomingRequest | undefined;
    const listener = await start(async (received) => {
      request = received;
      return reply(Buffer.from(await received.body()).toString());
    });
    const path = "/na%6Des/foo%2Fbar/%2e%2e/a//b/./c/../d?x=%zz&b+c";
    const answer = await send(
      session(listener),
      { ":path": path, ":method": "POST", "impersonate-group": ["a", "b, c"] },
      "hello",
    );
    expect(answer).toMatchObject({ code: 200, body: "hello" });
    expect(answer.headers["content-length"]).toBe("5");
    expect(request).toMatchObject({ method: "POST", rawPath: path, httpVersion: "2", remoteAddress: "127.0.0.1" });
    expect(request?.headers.filter(([name]) => name === "impersonate-group")).toEqual([
      ["impersonate-group", "a"],
      ["impersonate-group", "b, c"],
    ]);
  });

  test("many requests at once on one connection", async () => {
    const listener = await start(async ({ rawPath }) => reply(rawPath));
    const client = session(listener);
    const paths = Array.from({ length: 200 }, (_, at) => `/${at}`);
    const answers = await Promise.all(paths.map((path) => send(client, { ":path": path })));
    expect(answers.map(({ body }) => body)).toEqual(paths);
  });

  test("HEAD has the length and no body; repeated response headers stay apart", async () => {
    const listener = await start(async () =>
      reply("12345", [
        ["warning", "a"],
        ["warning", "b"],
      ]),
    );
    const answer = await send(session(listener), { ":path": "/", ":method": "HEAD" });
    expect(answer).toMatchObject({ code: 200, body: "" });
    expect(answer.headers["content-length"]).toBe("5");
    expect(answer.headers["warning"]).toEqual("a, b");
  });

  test.each([
    ["TRACE", {}, 405],
    ["FOO", {}, 405],
  ])("%s %p is refused with %d", async (method, headers, code) => {
    const listener = await start(async () => reply(""));
    const answer = await send(session(listener), {
      ":path": "/",
      ":method": method,
      ...headers,
    } as OutgoingHttpHeaders);
    expect(answer.code).toBe(code);
    expect(JSON.parse(answer.body)).toMatchObject({ kind: "Status", code });
  });

  test("a body beyond the limit is a 413 Status, declared or not", async () => {
    const listener = await start(echoBody, { limits: { bodyBytes: 1000 } });
    const client = session(listener);
    const post = { ":path": "/", ":method": "POST" };
    expect((await send(client, post, "x".repeat(1000))).body).toBe("1000");
    for (const headers of [post, { ...post, "content-length": 200_000 }]) {
      const answer = await send(client, headers, "x".repeat(200_000));
      expect(answer.code).toBe(413);
      expect(JSON.parse(answer.body)).toMatchObject({
        reason: "RequestEntityTooLarge",
        message: "Request entity too large: limit is 1000",
      });
    }
  });

  test("a compressed body is a 415, a body that does not arrive a 408", async () => {
    const listener = await start(echoBody, { limits: { bodyTimeoutMs: 50 } });
    const client = session(listener);
    const post = { ":path": "/", ":method": "POST" };
    expect((await send(client, { ...post, "content-encoding": "gzip" }, "x")).code).toBe(415);
    const stalled = client.request(post, { endStream: false });
    stalled.on("error", () => {});
    const { promise, resolve } = Promise.withResolvers<number>();
    stalled.on("response", (headers) => resolve(Number(headers[":status"])));
    expect(await promise).toBe(408);
  });

  test("bodies of every form come out whole", async () => {
    const parts = Array.from({ length: 3000 }, (_, at) => encoder.encode(`${at} `.repeat(at % 97 === 0 ? 20_000 : 5)));
    const whole = Buffer.concat(parts).toString();
    async function* lazily() {
      yield* parts;
    }
    const bodies = { "/array": parts, "/set": new Set(parts), "/async": lazily(), "/one": encoder.encode(whole) };
    const listener = await start(async ({ rawPath }) => ({
      kind: "reply",
      code: 200,
      headers: [],
      body: bodies[rawPath as keyof typeof bodies],
    }));
    const client = session(listener);
    for (const path of Object.keys(bodies)) {
      const answer = await send(client, { ":path": path });
      expect(answer.body === whole).toBe(true);
      expect(answer.headers["content-length"]).toBe(
        path === "/array" || path === "/one" ? String(whole.length) : undefined,
      );
    }
  });

  test("a handler that fails is a 500 without its cause, and is reported", async () => {
    const errors: unknown[] = [];
    const listener = await start(() => Promise.reject(new Error("secret")), { onError: (error) => errors.push(error) });
    const answer = await send(session(listener), { ":path": "/" });
    expect([answer.code, answer.body.includes("secret"), errors.length]).toEqual([500, false, 1]);
  });

  test("connection: close ends the connection after the reply", async () => {
    const listener = await start(async () => reply("bye", [["connection", "close"]]));
    const client = session(listener);
    const closed = new Promise((resolve) => client.once("close", resolve));
    expect((await send(client, { ":path": "/" })).body).toBe("bye");
    await closed;
  });
});

describe("HTTP/1.1", () => {
  test("requests are served one after another on one connection", async () => {
    const listener = await start(async ({ rawPath, httpVersion }) => reply(`${httpVersion} ${rawPath};`));
    const one = "GET /a%2Fb/../c HTTP/1.1\r\nHost: x\r\n\r\n";
    const { text } = await raw(listener, `${one}${one.replace("/a", "/z")}`);
    expect(text).toContain("1.1 /a%2Fb/../c;");
    expect(text).toContain("1.1 /z%2Fb/../c;");
    expect(text.toLowerCase()).toContain("content-length: 16");
  });

  test("header names are lower case, repeated ones separate", async () => {
    let request: IncomingRequest | undefined;
    const listener = await start(async (received) => {
      request = received;
      return reply("");
    });
    await raw(
      listener,
      "GET / HTTP/1.1\r\nHost: x\r\nImpersonate-Group: a\r\nImpersonate-Group: b, c\r\nConnection: close\r\n\r\n",
    );
    expect(request?.headers).toEqual([
      ["host", "x"],
      ["impersonate-group", "a"],
      ["impersonate-group", "b, c"],
      ["connection", "close"],
    ]);
  });

  test.each([
    ["no host", "GET / HTTP/1.1\r\n\r\n", "400"],
    ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"],
    ["two Authorization headers", "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nAuthorization: x\r\n\r\n", "400"],
    ["an absolute target", "GET http://other/e HTTP/1.1\r\nHost: a\r\n\r\n", "400"],
    ["an asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "400"],
    [
      "a gzip transfer encoding",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "400",
    ],
    [
      "both length and chunks",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "400",
    ],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"],
    ["TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", "405"],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "405"],
    [
      "an h2c upgrade",
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
      "400",
    ],
    ["a header beyond the limit", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(70_000)}\r\n\r\n`, "4"],
  ])("%s is refused", async (_name, text, code) => {
    let handled = 0;
    const listener = await start(async () => {
      handled++;
      return reply("");
    });
    const answer = await raw(listener, text);
    expect(answer.text.split(" ")[1]?.startsWith(code)).toBe(true);
    expect(handled).toBe(0);
  });

  test("chunked bodies are read, too long ones are a 413 and the connection closes", async () => {
    const listener = await start(echoBody, { limits: { bodyBytes: 1000, lingerMs: 50 } });
    const head = "POST / HTTP/1.1\r\nHost: x\r\n";
    const chunked = await raw(listener, `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`);
    expect(chunked.text.endsWith("\r\n3") || chunked.text.includes("\r\n\r\n3")).toBe(true);
    const long = await raw(listener, `${head}Content-Length: 100000\r\n\r\nabc`, 1000);
    expect(long.text).toStartWith("HTTP/1.1 413");
    expect(long.closed).toBe(true);
  });

  test("fetch sees a large array body and a stream", async () => {
    const parts = Array.from({ length: 2000 }, (_, at) => encoder.encode(`${at} `.repeat(300)));
    const listener = await start(async ({ rawPath }) =>
      rawPath === "/list"
        ? { kind: "reply", code: 200, headers: [["content-type", "text/plain"]], body: parts }
        : {
            kind: "stream",
            code: 200,
            headers: [],
            run: async (sink) => void parts.forEach((part) => sink.write(part)),
          },
    );
    const tls = { ca: authority.cert };
    for (const path of ["list", "stream"]) {
      const response = await fetch(`https://127.0.0.1:${listener.port}/${path}`, { tls });
      expect((await response.text()) === Buffer.concat(parts).toString()).toBe(true);
    }
  });

  test("an upgrade hands over the socket", async () => {
    const listener = await start(async () => reply(""), {
      upgrade: (request, socket) => socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\nhello ${request.rawPath}`),
    });
    const { text } = await raw(
      listener,
      "GET /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    expect(text).toEndWith("hello /exec");
  });
});

describe("streams", () => {
  const streaming =
    (run: (sink: ByteSink) => Promise<void>): Handle =>
    async () => ({
      kind: "stream",
      code: 200,
      headers: [["content-type", "application/json"]],
      run,
    });
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
    );

  test("the head arrives before any byte of the body, on both protocols", async () => {
    const listener = await start(streaming(({ signal }) => aborted(signal)));
    const { promise, resolve } = Promise.withResolvers<unknown>();
    session(listener).request({ ":path": "/" }).on("response", resolve);
    await promise;
    const controller = new AbortController();
    const response = await fetch(`https://127.0.0.1:${listener.port}/`, {
      tls: { ca: authority.cert },
      signal: controller.signal,
    });
    expect(response.status).toBe(200);
    controller.abort();
  });

  test("the signal is aborted when the client is gone", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = await start(streaming(async ({ signal }) => aborted(signal).then(resolve)));
    const stream = session(listener).request({ ":path": "/" });
    stream.on("error", () => {});
    stream.once("response", () => stream.close(http2.constants.NGHTTP2_CANCEL));
    await promise;
  });

  test("a client that does not read makes write false; the backlog is exact and drains when it reads", async () => {
    const chunk = new Uint8Array(64 * 1024);
    const { promise, resolve } = Promise.withResolvers<{ backlog: number; written: number }>();
    const listener = await start(
      streaming(async (sink) => {
        let written = 0;
        do written += chunk.byteLength;
        while (sink.write(chunk) || written < 4 * 1024 * 1024);
        resolve({ backlog: sink.backlogBytes, written });
        await sink.drained();
        expect(sink.backlogBytes).toBe(0);
        sink.write(encoder.encode("end"));
      }),
    );
    const stream = session(listener).request({ ":path": "/" });
    stream.pause();
    const { backlog, written } = await promise;
    expect(backlog).toBeGreaterThan(1024 * 1024);
    expect(backlog).toBeLessThanOrEqual(written);
    let bytes = 0;
    stream.on("data", (data: Buffer) => (bytes += data.byteLength));
    stream.resume();
    await new Promise((resolve) => stream.on("end", resolve));
    expect(bytes).toBe(written + 3);
  });

  test("draining ends streams cleanly, lets running requests finish, and refuses new connections", async () => {
    const gate = Promise.withResolvers<void>();
    const listener = await start(async ({ rawPath }) => {
      if (rawPath === "/slow") {
        await gate.promise;
        return reply("done");
      }
      return {
        kind: "stream",
        code: 200,
        headers: [],
        run: async (sink) => {
          sink.write(encoder.encode("first "));
          await aborted(sink.signal);
          sink.write(encoder.encode("last"));
        },
      };
    });
    const client = session(listener);
    const watch = send(client, { ":path": "/watch" });
    const slow = send(client, { ":path": "/slow" });
    const overHttp1 = fetch(`https://127.0.0.1:${listener.port}/watch`, { tls: { ca: authority.cert } });
    await (await overHttp1).clone();
    const text = (await overHttp1).text();
    await Bun.sleep(20);
    const closing = listener.close(2_000);
    expect((await watch).body).toBe("first last");
    expect(await text).toBe("first last");
    gate.resolve();
    expect((await slow).body).toBe("done");
    await closing;
    expect(listener.connections).toBe(0);
    expect(fetch(`https://127.0.0.1:${listener.port}/`, { tls: { ca: authority.cert } })).rejects.toThrow();
  });

  test("a request that arrives after the GOAWAY is not started, and nothing waits for it", async () => {
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const listener = await start(async ({ rawPath }) => {
      begun.push(rawPath);
      await gate.promise;
      return reply("done");
    });
    const socket = connect({ host: "127.0.0.1", port: listener.port, ca: authority.cert, ALPNProtocols: ["h2"] });
    let received = "";
    socket.on("data", (data) => (received += data.toString("latin1")));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(Buffer.concat([preface, frame({ type: settings }), get(1, "/before")]));
    while (begun.length === 0) await Bun.sleep(5);
    // Longer than the test may take: if a request were waited for, the test would fail.
    const closing = listener.close(600_000);
    socket.write(get(3, "/behind"));
    await Bun.sleep(20);
    gate.resolve();
    await Promise.all([closing, closed]);
    expect(begun).toEqual(["/before"]);
    expect(received).toContain("done");
  });

  test("close does not wait longer than asked", async () => {
    const listener = await start(() => new Promise(() => {}));
    send(session(listener), { ":path": "/" }).catch(() => {});
    await Bun.sleep(50);
    // The request never ends, so that only the time limit ends the wait.
    await expect(listener.close(100)).resolves.toBeUndefined();
  });
});

describe("attack 58: timeouts", () => {
  const limits = { handshakeTimeoutMs: 500, headersTimeoutMs: 500, idleTimeoutMs: 500 };
  /** Far longer than the limits, for a busy machine. */
  const closedMsMax = 20_000;

  test("no handshake, no request, half a request and an idle connection are closed", async () => {
    const listener = await start(async () => reply("ok"), { limits });
    const silent = Bun.connect({
      hostname: "127.0.0.1",
      port: listener.port,
      socket: { data() {}, close: () => closed.resolve() },
    });
    const closed = Promise.withResolvers<void>();
    await silent;
    expect((await raw(listener, "", closedMsMax)).closed).toBe(true);
    expect((await raw(listener, "GET / HTTP/1.1\r\nHost:", closedMsMax)).closed).toBe(true);
    const kept = await raw(listener, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", closedMsMax);
    expect([kept.text.endsWith("ok"), kept.closed]).toEqual([true, true]);
    const client = session(listener);
    await new Promise((resolve) => client.once("close", resolve));
    await closed.promise;
    expect(listener.connections).toBe(0);
  });

  test("a quiet stream is not idle", async () => {
    const listener = await start(
      async () => ({
        kind: "stream",
        code: 200,
        headers: [],
        run: async (sink) => {
          await Bun.sleep(2 * limits.idleTimeoutMs);
          sink.write(encoder.encode("still here"));
        },
      }),
      { limits },
    );
    expect((await send(session(listener), { ":path": "/" })).body).toBe("still here");
  });
});

test("reload swaps the certificate for new connections; open ones live on", async () => {
  const listener = await start(async () => reply("ok"));
  const before = session(listener);
  expect((await send(before, { ":path": "/" })).code).toBe(200);
  const fresh = await strangers.issue("CN=server2", { usage: "server" });
  listener.reload({ ...fresh, ca: [strangers.cert] });
  expect((await send(before, { ":path": "/" })).code).toBe(200);
  const tls = { ca: strangers.cert };
  expect((await fetch(`https://127.0.0.1:${listener.port}/`, { tls })).status).toBe(200);
});

test("reload ends only the connections whose client certificate is from a removed authority", async () => {
  const listener = await start(async () => reply("ok"), { tls: { ...server, ca: [authority.cert, strangers.cert] } });
  const stranger = await strangers.issue("CN=bob");
  const [leaves, stays, nobody] = [session(listener, stranger), session(listener, alice), session(listener)];
  for (const one of [leaves, stays, nobody]) expect((await send(one, { ":path": "/" })).code).toBe(200);
  listener.reload({ ...server, ca: [strangers.cert, authority.cert] });
  expect((await send(leaves, { ":path": "/" })).code).toBe(200);
  const left = new Promise((resolve) => leaves.once("goaway", resolve));
  listener.reload({ ...server, ca: [authority.cert] });
  await left;
  for (const one of [stays, nobody]) expect((await send(one, { ":path": "/" })).code).toBe(200);
});

const settings = 4;

/** Returns a frame of HTTP/2. */
function frame({ type, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

interface Frame {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
}

/** Headers without compression that end their stream. */
function get(stream: number, path: string): Buffer {
  const fields = [":method", "GET", ":scheme", "https", ":authority", "localhost", ":path", path];
  const texts = fields.map((text) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]));
  const literals = texts.flatMap((text, at) => (at % 2 === 0 ? [Buffer.from([0]), text] : [text]));
  return frame({ type: 1, flags: 5, stream, payload: Buffer.concat(literals) });
}
