import { afterEach, expect, test } from "bun:test";
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { until } from "../../test/until.ts";
import { systemClock } from "../process/clock.ts";
import { ManualClock } from "../storage/cacher/testing.ts";
import { HttpTransport } from "./http-transport.ts";
import type { KubeconfigServer, Proof } from "./kubeconfig.ts";
import { NoAnswerError, type TransportAnswer } from "./transport.ts";

/** @param cut breaks the connection */
type Answer = (stream: ServerHttp2Stream, head: Readonly<Record<string, unknown>>, cut: () => void) => void;

let closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.reverse()) close();
  closing = [];
});

/** An HTTP/2 server without TLS: what it does is what the tests are about. */
async function serve(answer: Answer): Promise<{ url: string; sessions: ServerHttp2Session[]; server: Http2Server }> {
  const sessions: ServerHttp2Session[] = [];
  const sockets: Socket[] = [];
  const server = createServer();
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream, head) => {
    stream.on("error", () => {});
    answer(stream as ServerHttp2Stream, head, () => {
      for (const socket of sockets) socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sessions, server };
}

function transportTo(url: string, proofs: Partial<KubeconfigServer> = {}, clock = systemClock): HttpTransport {
  const proof = async (): Promise<Proof> => ({ tls: { rejectUnauthorized: true }, authorization: undefined });
  const transport = new HttpTransport({ url, proof, renew: () => false, ...proofs }, clock);
  closing.push(() => transport[Symbol.dispose]());
  return transport;
}

function get(transport: HttpTransport, target = "/", signal = new AbortController().signal): Promise<TransportAnswer> {
  return transport.send({ method: "GET", target, headers: {}, body: undefined, signal });
}

async function textOf({ body }: TransportAnswer): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString();
}

async function failureOf(work: Promise<unknown>): Promise<NoAnswerError> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof NoAnswerError)) throw error;
  return error;
}

test("requests share one connection, and the path of the server's URL stands before theirs", async () => {
  const { url, sessions } = await serve((stream, head) => {
    stream.respond({ ":status": 200 });
    stream.end(String(head[":path"]));
  });
  const transport = transportTo(`${url}/prefix/`);
  const texts = await Promise.all(["/a", "/b?c=d"].map(async (target) => textOf(await get(transport, target))));
  expect([texts, sessions.length]).toEqual([["/prefix/a", "/prefix/b?c=d"], 1]);
});

test("more streams than one connection takes go over another, and all end with the transport", async () => {
  const { url, sessions } = await serve((stream) => stream.respond({ ":status": 200 }));
  const transport = transportTo(url);
  const answers: TransportAnswer[] = [];
  for (let at = 0; at < 150; at++) answers.push(await get(transport));
  expect(sessions).toHaveLength(2);
  transport[Symbol.dispose]();
  const ends = await Promise.all(answers.map((answer) => failureOf(textOf(answer))));
  expect(ends).toHaveLength(150);
});

test("a truncated answer is not an answer, however much of it arrived", async () => {
  const { url } = await serve((stream, _, cut) => {
    stream.respond({ ":status": 200 });
    stream.write("half", () => setTimeout(cut, 20));
  });
  const answer = await get(transportTo(url));
  expect(answer.code).toBe(200);
  expect((await failureOf(textOf(answer))).outcome).toBe("unknown");
});

test("a connection that breaks before the head leaves open what was done", async () => {
  const { url } = await serve((_stream, _, cut) => void setTimeout(cut, 20));
  const failure = await failureOf(get(transportTo(url)));
  expect([failure.outcome, failure.message]).toEqual(["unknown", `cannot reach ${url}: the connection was closed`]);
});

test("a server that is not there has done nothing", async () => {
  const { url, server } = await serve(() => {});
  await new Promise((resolve) => server.close(resolve));
  const failure = await failureOf(get(transportTo(url)));
  expect([failure.outcome, failure.message]).toEqual(["notDone", `cannot reach ${url}: nothing listens there`]);
});

test("a connection that the server is about to close gets no new requests", async () => {
  const { url, sessions } = await serve((stream) => {
    stream.respond({ ":status": 200 });
    stream.end("x", () => sessions.at(-1)?.goaway());
  });
  const transport = transportTo(url);
  for (let at = 0; at < 3; at++) {
    expect(await textOf(await get(transport))).toBe("x");
    await until(() => sessions.at(-1)?.closed === true && sessions.at(-1)?.destroyed === true);
  }
  expect(sessions).toHaveLength(3);
});

test("a credential that is not accepted is renewed once", async () => {
  const { url } = await serve((stream, head) => {
    stream.respond({ ":status": head["authorization"] === "Bearer 2" ? 200 : 401 });
    stream.end(String(head["authorization"]));
  });
  let token = 1;
  const transport = transportTo(url, {
    proof: async () => ({ tls: { rejectUnauthorized: true }, authorization: `Bearer ${token}` }),
    renew: () => ++token > 0,
  });
  const answer = await get(transport);
  expect([answer.code, await textOf(answer)]).toEqual([200, "Bearer 2"]);
  token = 5;
  const refused = await get(transport);
  expect([refused.code, await textOf(refused)]).toEqual([401, "Bearer 6"]);
});

test("a body that is not read holds its server up", async () => {
  const chunk = Buffer.alloc(64 * 1024);
  let sent = 0;
  const { url } = await serve((stream) => {
    stream.respond({ ":status": 200 });
    const send = () => {
      while (sent < 1_000 && stream.write(chunk)) sent++;
      if (sent < 1_000) stream.once("drain", () => (sent++, send()));
      else stream.end();
    };
    send();
  });
  const answer = await get(transportTo(url));
  const body = answer.body[Symbol.asyncIterator]();
  await body.next();
  for (let before = -1; before !== sent; ) {
    before = sent;
    await Bun.sleep(100);
  }
  expect(sent).toBeLessThan(100);
  await body.return?.();
});

test("a machine that gives no sign of life is left", async () => {
  const clock = new ManualClock();
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  closing.push(() => silent.stop(true));
  const transport = transportTo(`http://127.0.0.1:${silent.port}`, {}, clock);
  let isOver = false;
  const failure = failureOf(get(transport)).finally(() => (isOver = true));
  await until(() => {
    clock.advance(60_000);
    return isOver;
  });
  expect((await failure).message).toMatch(/does not answer in time|gives no sign of life/);
});
