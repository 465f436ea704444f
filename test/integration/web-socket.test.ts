import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:tls";
import { NodeAgent } from "./node-agent.ts";
import { configMap, pod, TestServer } from "./server.ts";

let server: TestServer;
let agent: NodeAgent;
let root: string;

beforeAll(async () => {
  [server, agent] = await Promise.all([TestServer.start(), NodeAgent.start()]);
  root = `/api/v1/namespaces/${await server.namespace()}`;
  await agent.register(server, "n1");
  await server.create(`${root}/pods`, pod("bound", { nodeName: "n1" }));
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await server.close();
});

const handshake = { "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };

/** Sends a request for a WebSocket, and returns everything that the server sends until it closes the connection. */
async function ask(
  path: string,
  headers: Record<string, string>,
  { frames = Buffer.from(""), protocols = ["http/1.1"] }: { frames?: Buffer; protocols?: string[] } = {},
): Promise<{ head: string; body: Buffer }> {
  const { port, ca, token } = server.running;
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: protocols });
  const fields = {
    host: "kubernetes",
    authorization: `Bearer ${token}`,
    connection: "keep-alive, Upgrade",
    upgrade: "WebSocket",
    ...handshake,
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once("secureConnect", () => {
    socket.write(Buffer.concat([Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), frames]));
  });
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const end = all.indexOf("\r\n\r\n");
  return { head: all.toString("latin1", 0, end), body: all.subarray(end + 4) };
}

/** Returns the messages of complete frames. */
function messages(body: Buffer): { opcode: number; payload: Buffer }[] {
  const found: { opcode: number; payload: Buffer }[] = [];
  for (let at = 0; at < body.byteLength; ) {
    const short = body[at + 1] as number;
    const length = short < 126 ? short : body.readUInt16BE(at + 2);
    const start = at + (short < 126 ? 2 : 4);
    found.push({ opcode: (body[at] as number) & 0x0f, payload: body.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

const origin = { origin: "http://localhost" };

test("a watch sends each event as a text message, and ends with a close frame", async () => {
  for (const name of ["a", "b"]) await server.create(`${root}/configmaps`, configMap(name));
  const { head, body } = await ask(`${root}/configmaps?watch=true&timeoutSeconds=1`, origin);
  expect(head).toStartWith("HTTP/1.1 101 Switching Protocols\r\n");
  expect(head).toContain("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const frames = messages(body);
  const events = frames.filter(({ opcode }) => opcode === 1).map(({ payload }) => JSON.parse(payload.toString()));
  expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(["ADDED a", "ADDED b"]);
  expect(frames.at(-1)).toEqual({ opcode: 8, payload: Buffer.from([3, 0xe8]) });
});

test("a watch in protobuf sends binary messages without their length", async () => {
  const accept = "application/vnd.kubernetes.protobuf";
  const path = `${root}/configmaps?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Da`;
  const [event, ...rest] = messages((await ask(path, { ...origin, accept })).body);
  expect(event?.opcode).toBe(2);
  expect(event?.payload.toString("latin1")).toStartWith("\n\x05ADDED");
  expect(rest.map(({ opcode }) => opcode)).toEqual([8]);
});

/** A frame with the mask 0, which clients may send. */
const clientFrame = (opcode: number, payload: string) =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload, "latin1")]);

test("a client that closes gets its pong and a close frame, and the connection ends", async () => {
  const frames = Buffer.concat([clientFrame(9, "hi"), clientFrame(8, "\x03\xe8")]);
  const { body } = await ask(`${root}/configmaps?watch=true`, origin, { frames });
  const [pong, ...rest] = messages(body);
  expect(pong).toEqual({ opcode: 10, payload: Buffer.from("hi") });
  expect(rest.at(-1)).toEqual({ opcode: 8, payload: Buffer.from([3, 0xe8]) });
});

test.each<[string, string[], Record<string, string>]>([
  ["without ALPN", [], { origin: "https://127.0.0.1" }],
  [
    "that offers compression",
    ["http/1.1"],
    { ...origin, "sec-websocket-extensions": "permessage-deflate", "accept-encoding": "gzip" },
  ],
  ["with an empty body", ["http/1.1"], { ...origin, "content-length": "0" }],
])("a handshake %s is accepted", async (_, protocols, headers) => {
  const path = `${root}/configmaps?allowWatchBookmarks=true&resourceVersion=0&timeoutSeconds=1&watch=true`;
  const { head, body } = await ask(path, headers, { protocols });
  expect(head).toStartWith("HTTP/1.1 101 Switching Protocols\r\n");
  expect(head).not.toContain("sec-websocket-extensions");
  expect(messages(body).at(-1)?.opcode).toBe(8);
});

test("a subprotocol is taken over, except one with a token", async () => {
  const token = `base64url.bearer.authorization.k8s.io.${Buffer.from(server.running.token).toString("base64url")}`;
  const path = `${root}/configmaps?watch=true&timeoutSeconds=1`;
  const { head } = await ask(path, { ...origin, "sec-websocket-protocol": `${token}, x.y` });
  expect(head).toContain("sec-websocket-protocol: x.y");
  expect(head).not.toContain("bearer");
});

test.each<[string, Record<string, string>, string]>([
  ["no origin", {}, "HTTP/1.1 403 Forbidden"],
  ["another version", { ...origin, "sec-websocket-version": "8" }, "HTTP/1.1 400 Bad Request"],
  ["a short key", { ...origin, "sec-websocket-key": "short" }, "HTTP/1.1 400 Bad Request"],
])("a handshake with %s is refused", async (_, headers, line) => {
  const { head } = await ask(`${root}/configmaps?watch=true`, headers);
  expect(head.split("\r\n")[0]).toBe(line);
});

test.each([
  [undefined, 2, "hello\n"],
  ["binary.k8s.io", 2, "hello\n"],
  ["base64.binary.k8s.io", 1, btoa("hello\n")],
])("a log with the subprotocol %p sends an empty message, then the text", async (protocol, opcode, text) => {
  agent.answer = (_request, response) => response.end("hello\n");
  const headers: Record<string, string> = protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
  const { head, body } = await ask(`${root}/pods/bound/log`, headers);
  expect(head).toStartWith("HTTP/1.1 101 Switching Protocols\r\n");
  const [empty, ...rest] = messages(body);
  expect(empty).toEqual({ opcode, payload: Buffer.from("") });
  const data = rest.filter((frame) => frame.opcode === opcode).map(({ payload }) => payload.toString());
  expect(data.join("")).toBe(text);
  expect(rest.at(-1)?.opcode).toBe(8);
});

test("a log refuses subprotocols that it does not know", async () => {
  const { head } = await ask(`${root}/pods/bound/log`, { "sec-websocket-protocol": "x.y" });
  expect(head).toStartWith("HTTP/1.1 400 Bad Request\r\n");
});
