import { expect, test } from "bun:test";
import { type Frame, frameFlag, frameHead, frameType, numbersFrame } from "./frame.ts";
import { headersOf, TestServer } from "./testing.ts";

const setting = { concurrentStreamsMax: 3, initialWindowSize: 4 };
const ok = { kind: "status", code: 0, message: "" };
const request = Buffer.from("\0\0\0\0\x07request");

function dataIn(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.filter(({ type }) => type === frameType.data).map(({ payload }) => payload));
}

function opened(): TestServer {
  const server = new TestServer();
  server.sent();
  return server;
}

test("a session begins with its settings and window", () => {
  const [settings, window, ...others] = new TestServer().sent();
  expect(settings).toMatchObject({ type: frameType.settings, streamId: 0 });
  // No pushed responses, a window of 4 MiB.
  expect(settings?.payload.toString("hex")).toBe("000200000000000400400000");
  expect(window).toMatchObject({ type: frameType.windowUpdate, streamId: 0 });
  expect(others).toEqual([]);
});

test("a call sends its headers and message, and delivers the answer", () => {
  const server = opened();
  const { messages, ends } = server.open({ timeoutMs: 1_499.2 });
  const [headers, data, ...others] = server.sent();
  expect(headers).toMatchObject({ type: frameType.headers, flags: frameFlag.endHeaders, streamId: 1 });
  expect(headersOf(headers as Frame)).toEqual({
    ":method": "POST",
    ":path": "/test",
    ":scheme": "http",
    ":authority": "test",
    "grpc-timeout": "1500m",
  });
  expect(data).toEqual({ type: frameType.data, flags: frameFlag.endStream, streamId: 1, payload: request });
  expect(others).toEqual([]);
  server.answer(1, "answer");
  expect({ messages, ends }).toEqual({ messages: ["answer"], ends: [ok] as never });
  expect(server.sent()).toEqual([]);
});

test("calls run side by side, and end in any order", () => {
  const server = opened();
  const one = server.open();
  const two = server.open();
  server.answer(3, "two");
  server.answer(1, "one");
  expect([one.messages, two.messages]).toEqual([["one"], ["two"]]);
});

test("a stream that stays open delivers messages, also several in one frame and one in several frames", () => {
  const server = opened();
  const { messages, ends, stream } = server.open({ staysOpen: true });
  expect(server.sent().at(-1)).toMatchObject({ type: frameType.data, flags: 0 });
  server.headers(1, { ":status": "200" });
  server.send(frameType.data, 0, 1, Buffer.from("\0\0\0\0\x01a\0\0\0\0\x01b\0\0\0"));
  server.send(frameType.data, 0, 1, Buffer.from("\0\x02c"));
  expect(messages).toEqual(["a", "b"]);
  server.send(frameType.data, 0, 1, Buffer.from("d"));
  expect(messages).toEqual(["a", "b", "cd"]);
  stream.cancel();
  expect(server.sent()).toMatchObject([{ type: frameType.reset, streamId: 1, payload: Buffer.of(0, 0, 0, 8) }]);
  server.message(1, "late");
  stream.cancel();
  expect({ messages: messages.length, ends, sent: server.sent() }).toEqual({ messages: 3, ends: [], sent: [] });
});

test("a stream that is cancelled by its listener gets nothing more of the same frame", () => {
  const server = opened();
  const messages: string[] = [];
  const stream = server.session.open(
    { path: "/test", message: request, staysOpen: true },
    {
      message: (bytes) => {
        messages.push(bytes.toString());
        stream.cancel();
      },
      ended: () => messages.push("ended"),
    },
  );
  server.send(frameType.data, 0, 1, Buffer.from("\0\0\0\0\x01a\0\0\0\0\x01b"));
  expect(messages).toEqual(["a"]);
});

test.each([
  [
    { ":status": "200", "grpc-status": "11", "grpc-message": "compacted %E2%82%AC 100%" },
    { kind: "status", code: 11, message: "compacted € 100%" },
  ],
  [{ ":status": "503" }, { kind: "broken", reason: "the server sent HTTP status 503" }],
  [
    { ":status": "503", "grpc-status": "0" },
    { kind: "broken", reason: "the server sent HTTP status 503" },
  ],
  [
    { ":status": "200", "grpc-status": "" },
    { kind: "broken", reason: "the server sent an answer without a gRPC status" },
  ],
  [{ ":status": "200" }, { kind: "broken", reason: "the server sent an answer without a gRPC status" }],
])("an answer that consists of headers alone: %j", (fields, end) => {
  const server = opened();
  const { ends } = server.open();
  server.headers(1, fields as unknown as Record<string, string>, frameFlag.endStream);
  expect(ends).toEqual([end as never]);
});

test("headers that only precede the answer do not end the stream", () => {
  const server = opened();
  const { messages, ends } = server.open();
  server.headers(1, { ":status": "103" });
  server.answer(1, "done");
  expect({ messages, ends }).toEqual({ messages: ["done"], ends: [ok as never] });
});

test("a page of a proxy ends the stream at its headers", () => {
  const server = opened();
  const { ends } = server.open();
  server.sent();
  server.headers(1, { ":status": "502" });
  expect(ends).toEqual([{ kind: "broken", reason: "the server sent HTTP status 502" }]);
  expect(server.sent()).toMatchObject([{ type: frameType.reset, streamId: 1 }]);
});

test("headers in several frames", () => {
  const server = opened();
  const { ends } = server.open();
  const block = Buffer.from("\0\x0bgrpc-status\x010");
  server.send(frameType.headers, frameFlag.endStream, 1, block.subarray(0, 4));
  server.send(frameType.continuation, 0, 1, block.subarray(4, 6));
  expect(ends).toEqual([]);
  server.send(frameType.continuation, frameFlag.endHeaders, 1, block.subarray(6));
  expect(ends).toEqual([ok as never]);
});

test("an end within a message, or without headers, leaves the outcome open", () => {
  const server = opened();
  const cut = server.open();
  server.send(frameType.data, 0, 1, Buffer.from("\0\0\0\0\x09part"));
  server.headers(1, { "grpc-status": "0" }, frameFlag.endStream);
  const bare = server.open();
  server.send(frameType.data, frameFlag.endStream, 3);
  expect(cut.ends).toEqual([{ kind: "broken", reason: "the server sent a part of a message" }]);
  expect(bare.ends).toEqual([{ kind: "broken", reason: "the server sent an answer without a gRPC status" }]);
});

test("a message beyond the limit ends its stream only", () => {
  const server = new TestServer(10);
  server.sent();
  const large = server.open();
  const small = server.open();
  server.sent();
  server.message(1, "eleven byte");
  expect(large.ends).toEqual([{ kind: "status", code: 8, message: "a message of 11 bytes is larger than 10" }]);
  expect(server.sent()).toMatchObject([{ type: frameType.reset, streamId: 1 }]);
  server.answer(3, "ten bytes!");
  expect(small.messages).toEqual(["ten bytes!"]);
});

test("a reset tells whether the request was processed", () => {
  const server = opened();
  const one = server.open();
  const two = server.open();
  server.sent();
  server.session.receive(numbersFrame(frameType.reset, 1, 7));
  server.session.receive(numbersFrame(frameType.reset, 3, 2));
  expect(one.ends).toEqual([{ kind: "unprocessed", reason: "the server reset the stream (code 7)" }]);
  expect(two.ends).toEqual([{ kind: "broken", reason: "the server reset the stream (code 2)" }]);
  expect(server.sent()).toEqual([]);
});

test("a large message waits for the windows of its stream and of the connection", () => {
  const server = opened();
  const message = Buffer.alloc(150_000, "m");
  const { ends } = server.open({ message });
  const first = server.sent();
  expect(dataIn(first)).toHaveLength(65_535);
  expect(Math.max(...first.map(({ payload }) => payload.length))).toBe(16_384);
  const small = server.open();
  expect(dataIn(server.sent())).toHaveLength(0);
  // The connection's window lets the other stream through.
  server.session.receive(numbersFrame(frameType.windowUpdate, 0, 1_000_000));
  expect(dataIn(server.sent())).toEqual(request);
  server.session.receive(numbersFrame(frameType.windowUpdate, 1, 50_000));
  expect(dataIn(server.sent())).toHaveLength(50_000);
  // The first window of all streams changes, also of those that are open.
  server.settings({ [setting.initialWindowSize]: 65_535 + 100_000 });
  const rest = server.sent();
  expect(dataIn(rest)).toHaveLength(150_005 - 65_535 - 50_000);
  expect(rest.filter(({ flags, type }) => type === frameType.data && flags === frameFlag.endStream)).toHaveLength(1);
  server.answer(1, "done");
  server.answer(3, "done");
  expect([ends, small.ends]).toEqual([[ok], [ok]] as never);
});

test("a window can become negative", () => {
  const server = opened();
  server.open({ message: Buffer.alloc(100_000) });
  server.sent();
  server.settings({ [setting.initialWindowSize]: 0 });
  server.session.receive(numbersFrame(frameType.windowUpdate, 0, 1_000_000));
  server.session.receive(numbersFrame(frameType.windowUpdate, 1, 65_535));
  expect(dataIn(server.sent())).toHaveLength(0);
  server.session.receive(numbersFrame(frameType.windowUpdate, 1, 10));
  expect(dataIn(server.sent())).toHaveLength(10);
});

test("a stream that is cancelled while it waits for a window, or is answered early, is reset", () => {
  const server = opened();
  const { stream } = server.open({ message: Buffer.alloc(100_000) });
  const early = server.open();
  server.sent();
  stream.cancel();
  server.headers(3, { ":status": "200", "grpc-status": "8" }, frameFlag.endStream);
  expect(early.ends).toMatchObject([{ kind: "status", code: 8 }]);
  expect(server.sent().map(({ type, streamId }) => [type, streamId])).toEqual([
    [frameType.reset, 1],
    [frameType.reset, 3],
  ]);
  server.session.receive(numbersFrame(frameType.windowUpdate, 0, 1_000_000));
  expect(server.sent()).toEqual([]);
});

test("received bytes are confirmed, for the stream and for the connection", () => {
  const server = opened();
  server.open({ staysOpen: true });
  server.sent();
  const chunk = Buffer.concat([frameHead(frameType.data, 0, 1, 16_384), Buffer.alloc(16_384)]);
  for (let sent = 0; sent < 2 * 1024 * 1024; sent += 16_384) server.session.receive(chunk);
  const confirmed = server.sent().map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]);
  expect(confirmed).toEqual([
    [0, 2 * 1024 * 1024],
    [1, 2 * 1024 * 1024],
  ]);
});

test("streams beyond the server's limit wait for others to end", () => {
  const server = opened();
  server.settings({ [setting.concurrentStreamsMax]: 1 });
  server.open();
  const second = server.open();
  const third = server.open();
  server.sent();
  second.stream.cancel();
  server.answer(1, "one");
  expect(server.sent().map(({ streamId }) => streamId)).toEqual([3, 3]);
  server.answer(3, "three");
  expect([second.messages, third.messages]).toEqual([[], ["three"]]);
});

test("settings and pings are answered", () => {
  const server = opened();
  server.settings({});
  server.send(frameType.settings, frameFlag.ack, 0);
  server.send(frameType.ping, 0, 0, Buffer.from("12345678"));
  server.send(frameType.ping, frameFlag.ack, 0, Buffer.from("12345678"));
  expect(server.sent()).toEqual([
    { type: frameType.settings, flags: frameFlag.ack, streamId: 0, payload: Buffer.alloc(0) },
    { type: frameType.ping, flags: frameFlag.ack, streamId: 0, payload: Buffer.from("12345678") },
  ]);
});

test("a server that leaves answers what it has begun, and then the connection closes", () => {
  const server = opened();
  const one = server.open();
  const two = server.open();
  server.settings({ [setting.concurrentStreamsMax]: 2 });
  const waiting = server.open();
  server.goAway(1, 0);
  const reason = "the server closes the connection";
  expect([one.ends, two.ends, waiting.ends]).toEqual([
    [],
    [{ kind: "unprocessed", reason }],
    [{ kind: "unprocessed", reason }],
  ]);
  expect(server).toMatchObject({ ended: reason, isClosed: false });
  expect(server.session).toMatchObject({ refusal: reason, isLeaving: true });
  server.answer(1, "one");
  expect([one.messages, server.isClosed, server.session.isLeaving]).toEqual([["one"], true, false]);
});

test("the reason of a server that leaves is told", () => {
  const server = opened();
  server.goAway(0, 11, "too_many_pings");
  expect(server).toMatchObject({ ended: "the server closes the connection (code 11 too_many_pings)", isClosed: true });
});

test("a connection that breaks leaves all outcomes open", () => {
  const server = opened();
  const { ends } = server.open();
  server.session.close("ECONNRESET");
  server.session.close("again");
  server.answer(1, "late");
  expect(ends).toEqual([{ kind: "broken", reason: "ECONNRESET" }]);
  expect(server).toMatchObject({ ended: "ECONNRESET", isClosed: true });
});

test.each<[string, (server: TestServer) => void]>([
  ["a frame of 16777215 bytes", (server) => server.session.receive(Buffer.alloc(9, 0xff))],
  ["a frame that is too short", (server) => server.send(frameType.windowUpdate, 0, 0, Buffer.alloc(3))],
  ["a frame that is too short", (server) => server.send(frameType.goAway, 0, 0, Buffer.alloc(7))],
  ["a window that is too large", (server) => server.settings({ [setting.initialWindowSize]: 2 ** 31 })],
  ["a response that was not asked for", (server) => server.send(frameType.pushPromise, 0, 1, Buffer.alloc(4))],
  ["a continuation of nothing", (server) => server.send(frameType.continuation, 0, 1)],
  [
    "headers without an end",
    (server) => {
      server.send(frameType.headers, 0, 1);
      server.message(1, "m");
    },
  ],
  [
    "headers that are too large",
    (server) => {
      server.send(frameType.headers, 0, 1);
      for (let at = 0; at < 5; at++) server.send(frameType.continuation, 0, 1, Buffer.alloc(16_384));
    },
  ],
  ["a message that is compressed", (server) => server.send(frameType.data, 0, 1, Buffer.of(1, 0, 0, 0, 0))],
])("a server that breaks the protocol: %s", (text, breakIt) => {
  const server = opened();
  const { ends } = server.open();
  breakIt(server);
  expect(ends).toEqual([{ kind: "broken", reason: `the server breaks the protocol: ${text}` }]);
  expect(server.isClosed).toBe(true);
});

test("frames of unknown types and of streams that have ended are ignored", () => {
  const server = opened();
  const { messages } = server.open();
  server.send(0xfa, 0xff, 1, Buffer.from("unknown"));
  server.answer(99, "nobody");
  server.session.receive(numbersFrame(frameType.reset, 99, 1));
  server.session.receive(numbersFrame(frameType.windowUpdate, 99, 1));
  server.answer(1, "answer");
  expect(messages).toEqual(["answer"]);
});

test("random bytes and cuts never throw", () => {
  const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
  console.log(`SEED=${seed}`);
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % below;
  };
  for (let round = 0; round < 300; round++) {
    const server = new TestServer(100);
    for (let at = 0; at < 3; at++) server.open({ staysOpen: at === 0 });
    for (let at = 0; at < 20; at++) {
      const payload = Buffer.from(Array.from({ length: random(30) }, () => random(256)));
      server.send(random(11), random(256), random(4), payload);
    }
    server.session.close("end");
  }
});
