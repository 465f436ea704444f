import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../until.ts";
import { TestServer } from "../server.ts";
import { endHeaders, endStream, field, frame, frameTypes, Http2Connection } from "./http2-connection.ts";

const { data, headers, priority, reset, settings, pushPromise, ping, windowUpdate, continuation } = frameTypes;
const flood = 50_000;
/** The streams of a connection at a time, as the server's settings say. */
const streamsMax = 250;
const errors = { protocol: 1, flowControl: 3, frameSize: 6, compression: 9, enhanceYourCalm: 11 };
/** The code 400 in the table of HPACK. */
const status400 = 0x8c;
const cancel = Buffer.of(0, 0, 0, 8);
let server: TestServer;
let connection: Http2Connection;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());
afterEach(async () => {
  connection[Symbol.dispose]();
  expect((await server.get("/version")).code).toBe(200);
});

/** Returns the frames a thousand at a time. */
function* repeated(make: (at: number) => Buffer, count = flood): Generator<Buffer> {
  for (let at = 0; at < count; at += 1_000) {
    yield Buffer.concat(Array.from({ length: 1_000 }, (_, more) => make(at + more)));
  }
}

const streamOf = (at: number) => 1 + 2 * at;

describe("attack 59: a flood ends the connection, and others are served", () => {
  test("CVE-2023-44487, CVE-2023-39325: streams that are reset as soon as they are open", async () => {
    connection = await Http2Connection.open(server);
    const head = connection.head("GET", "/version");
    const open = (at: number) => frame(headers, endHeaders | endStream, streamOf(at), head);
    await connection.send(
      ...repeated((at) => Buffer.concat([open(at), frame(reset, 0, streamOf(at), cancel)]), 20_000),
    );
    await connection.closed;
  });

  test("CVE-2023-45288: a head that never ends", async () => {
    connection = await Http2Connection.open(server);
    await connection.send(frame(headers, endStream, 1, connection.head("GET", "/version")));
    for (let at = 0; at < 1_000; at++) {
      await connection.send(frame(continuation, 0, 1, field(`x-${at}`, "y".repeat(4_000))));
    }
    await connection.closed;
    expect(connection.goAways).toContain(errors.compression);
    expect(connection.count(headers)).toBe(0);
  });

  test("an HPACK bomb: a small head that is large when it is decoded", async () => {
    connection = await Http2Connection.open(server);
    const large = field("x", "y".repeat(3_900), true);
    await connection.send(frame(headers, endHeaders | endStream, 1, connection.head("GET", "/version", large)));
    const references = Buffer.alloc(12_000, 0xbe);
    await connection.send(
      frame(headers, endHeaders | endStream, 3, Buffer.concat([connection.head("GET", "/version"), references])),
    );
    await until(() => connection.frames.some(({ stream }) => stream === 3));
    const answer = connection.frames.find(({ stream }) => stream === 3);
    expect([answer?.type, answer?.payload.readUInt32BE(0)]).toEqual([reset, errors.enhanceYourCalm]);
  });

  test.each([
    ["CVE-2019-9515: SETTINGS", () => frame(settings, 0, 0)],
    ["CVE-2019-9512: PING", () => frame(ping, 0, 0, Buffer.alloc(8))],
  ])("%s", async (_name, make) => {
    connection = await Http2Connection.open(server);
    await connection.send(...repeated(make));
    await connection.closed;
  });

  test("CVE-2019-9518: empty DATA", async () => {
    connection = await Http2Connection.open(server);
    await connection.send(frame(headers, endHeaders, 1, connection.head("POST", "/version")));
    await connection.send(...repeated(() => frame(data, 0, 1)));
    await connection.closed;
  });

  test("more requests at a time than the connection may have", async () => {
    connection = await Http2Connection.open(server);
    const head = connection.head("GET", "/api/v1/configmaps?watch=1");
    await connection.send(...repeated((at) => frame(headers, endHeaders | endStream, streamOf(at), head), 5_000));
    await connection.closed;
    expect(connection.count(headers)).toBeLessThanOrEqual(streamsMax);
  });
});

describe("attack 59: frames that only cost their reading change nothing", () => {
  test.each([
    ["CVE-2019-9513: PRIORITY", (at: number) => frame(priority, 0, streamOf(at), Buffer.of(0, 0, 0, 0, 1))],
    ["WINDOW_UPDATE", () => frame(windowUpdate, 0, 0, Buffer.of(0, 0, 0, 1))],
    ["acknowledged SETTINGS", () => frame(settings, 1, 0)],
    ["frames of no known type", () => frame(99, 0, 0, Buffer.alloc(8))],
  ])("%s", async (_name, make) => {
    connection = await Http2Connection.open(server);
    await connection.send(...repeated(make));
    const stream = streamOf(flood);
    await connection.send(frame(headers, endHeaders | endStream, stream, connection.head("GET", "/version")));
    await Promise.race([until(() => connection.frames.some((each) => each.stream === stream)), connection.closed]);
  });

  test("CVE-2019-9511, CVE-2019-9517: large answers that the client does not let through", async () => {
    connection = await Http2Connection.open(server);
    const noWindow = Buffer.of(0, 4, 0, 0, 0, 0);
    await connection.send(frame(settings, 0, 0, noWindow));
    const head = connection.head("GET", "/openapi/v2");
    for (let at = 0; at < 100; at++) await connection.send(frame(headers, endHeaders | endStream, streamOf(at), head));
    await until(() => connection.count(headers) === 100);
    expect((await server.get("/openapi/v2")).code).toBe(200);
  });
});

describe("attack 59: a frame that breaks the protocol ends the connection", () => {
  test.each<[string, number, (head: Buffer) => Buffer[]]>([
    ["of more bytes than the server accepts", errors.frameSize, () => [frame(data, 0, 1, Buffer.alloc(16_385))]],
    ["of 16 MB", errors.frameSize, () => [Buffer.of(0xff, 0xff, 0xff, data, 0, 0, 0, 0, 1)]],
    ["on a stream of the server's", errors.protocol, (head) => [frame(headers, endHeaders | endStream, 2, head)]],
    ["that resets a stream which is not open", errors.protocol, () => [frame(reset, 0, 1, cancel)]],
    [
      "that promises a stream",
      errors.protocol,
      (head) => [frame(pushPromise, endHeaders, 1, Buffer.concat([Buffer.of(0, 0, 0, 2), head]))],
    ],
    [
      "between the parts of a head",
      errors.protocol,
      (head) => [frame(headers, 0, 1, head), frame(ping, 0, 0, Buffer.alloc(8))],
    ],
    [
      "that overflows the window",
      errors.flowControl,
      () => [frame(windowUpdate, 0, 0, Buffer.of(0x7f, 0xff, 0xff, 0xff))],
    ],
    [
      "of a thousand settings",
      errors.enhanceYourCalm,
      () => [frame(settings, 0, 0, Buffer.alloc(6_000).fill(Buffer.of(0, 9, 0, 0, 0, 1)))],
    ],
    [
      "of a header that cannot be decoded",
      errors.compression,
      () => [frame(headers, endHeaders | endStream, 1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff))],
    ],
  ])("%s", async (_name, code, make) => {
    connection = await Http2Connection.open(server);
    await connection.send(...make(connection.head("GET", "/version")));
    await connection.closed;
    expect(connection.goAways).toContain(code);
  });
});

describe("attack 60: HTTP/2 does not carry headers of HTTP/1.1", () => {
  test.each([
    ["transfer-encoding", "chunked"],
    ["connection", "x-remote-user"],
    ["upgrade", "h2c"],
    ["X-Upper-Case", "a"],
    ["x", "a\r\nauthorization: Bearer b"],
    ["x\r\ny", "a"],
    [":path", "/api"],
  ])("%j: %j", async (name, value) => {
    connection = await Http2Connection.open(server);
    const head = connection.head("GET", "/version", field(name, value));
    await connection.send(frame(headers, endHeaders | endStream, 1, head));
    await until(() => connection.frames.some(({ stream }) => stream === 1));
    const answer = connection.frames.find(({ stream }) => stream === 1);
    expect([answer?.type, answer?.payload.readUInt32BE(0)]).toEqual([reset, errors.protocol]);
  });

  test("nor two hosts", async () => {
    connection = await Http2Connection.open(server);
    const head = connection.head("GET", "/version", field("host", "other"));
    await connection.send(frame(headers, endHeaders | endStream, 1, head));
    await connection.closed;
    expect(connection.frames.find(({ stream }) => stream === 1)?.payload[0]).toBe(status400);
  });
});
