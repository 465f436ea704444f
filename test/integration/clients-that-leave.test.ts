import { afterAll, beforeAll, expect, test } from "bun:test";
import { constants } from "node:http2";
import { connect } from "node:tls";
import { until } from "../until.ts";
import { configMap, TestServer } from "./server.ts";

/** Clients that disconnect at any moment leave nothing behind: no request in flight, no watch, no failure. */
let server: TestServer;
let maps: string;

beforeAll(async () => {
  server = await TestServer.start();
  maps = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
  // Larger than the buffers of a connection.
  for (let at = 0; at < 40; at++) {
    await server.create(maps, { ...configMap(`big-${at}`), data: { text: "x".repeat(200_000) } });
  }
});
afterAll(() => server.close());

/** Time in which the head of a request with a body arrives. */
const bodyWaitMs = 20;
const json = "content-type: application/json\r\n";
const handshake =
  "origin: https://a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/**
 * Requests by their state when the client disconnects: the line, further headers, and the part of the body that is sent.
 */
const requests = (): readonly [name: string, line: string, headers: string, body: string][] => [
  ["a list", `GET ${maps}`, "", ""],
  ["the head of a list", `HEAD ${maps}`, "", ""],
  ["a table", `GET ${maps}`, "accept: application/json;as=Table;g=meta.k8s.io;v=v1\r\n", ""],
  ["a watch", `GET ${maps}?watch=true`, "", ""],
  ["the head of a watch", `HEAD ${maps}?watch=true`, "", ""],
  ["a watch over WebSocket", `GET ${maps}?watch=true`, handshake, ""],
  ["a body", `POST ${maps}`, `${json}content-length: 1000\r\n`, '{"metadata":'],
  ["a body in chunks", `POST ${maps}`, `${json}transfer-encoding: chunked\r\n`, '5\r\n{"met'],
  ["the reading of metrics", "GET /metrics", "", ""],
  ["an OpenAPI document", "GET /openapi/v3/apis/apps/v1", "", ""],
];

/** Sends a request, and disconnects at once or with the first bytes of the answer. */
function leave(line: string, headers: string, body: string, when: "at once" | "in the answer"): Promise<void> {
  const { port, ca, token } = server.running;
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"] });
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("error", () => {});
  socket.once("close", () => resolve());
  const leaves = () => socket.destroy();
  const text = `${line} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n${headers}\r\n${body}`;
  socket.once("secureConnect", () => socket.write(text, () => when === "at once" && setImmediate(leaves)));
  // A request whose body never arrives gets no answer.
  if (body === "") socket.once("data", leaves);
  else setTimeout(leaves, bodyWaitMs);
  return promise;
}

/** Returns the metrics of current activity, without the request that reads them. */
async function underWay(): Promise<string[]> {
  const { text } = await server.get("/metrics");
  const shown = /^(apiserver_longrunning_requests|apiserver_current_inflight_requests)\{/;
  return text
    .split("\n")
    .filter((line) => shown.test(line) && !line.endsWith(" 0"))
    .sort();
}

async function failures(): Promise<string[]> {
  const { text } = await server.get("/metrics");
  return text.split("\n").filter((line) => /^apiserver_request_total\{.*code="5/.test(line));
}

/** Waits until the activity is as before. */
async function settled(before: readonly string[]): Promise<void> {
  await until(underWay, (now) => Bun.deepEquals(now, before));
}

test.each(["at once", "in the answer"] as const)(
  "HTTP/1.1: clients that leave %s",
  async (when) => {
    const before = await underWay();
    for (const [, line, headers, body] of requests()) {
      for (let times = 0; times < 3; times++) await leave(line, headers, body, when);
    }
    await settled(before);
    expect(await failures()).toEqual([]);
  },
  60_000,
);

test("HTTP/2: streams that are reset, and a session that ends with streams on it", async () => {
  const before = await underWay();
  const authorization = `Bearer ${server.running.token}`;
  const session = server.http2();
  session.on("error", () => {});
  for (const [, line, headers] of requests().filter(([, , , body]) => body === "")) {
    if (headers === handshake) continue;
    const [method = "", path = ""] = line.split(" ");
    for (const leaves of ["reset", "end of session"]) {
      const stream = session.request({ ":method": method, ":path": path, authorization });
      stream.on("error", () => {});
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.once("response", () => resolve());
      await promise;
      if (leaves === "reset") stream.close(constants.NGHTTP2_CANCEL);
    }
  }
  const watch = session.request({ ":path": `${maps}?watch=true`, authorization });
  await new Promise((resolve) => watch.once("data", resolve));
  expect(await underWay()).not.toEqual(before);
  session.destroy();
  await settled(before);
  expect(await failures()).toEqual([]);
}, 60_000);

test("the head of a list has no body, and one connection serves many of them", async () => {
  const before = await underWay();
  for (let times = 0; times < 20; times++) {
    const { code, bytes } = await server.request("HEAD", maps);
    expect([code, bytes.byteLength]).toEqual([200, 0]);
  }
  expect((await server.get(maps)).json.items).toHaveLength(40);
  await settled(before);
});
