import { expect, test } from "bun:test";
import { until } from "../../../../../test/until.ts";
import { controlFrame, finFlag, words } from "./frame.ts";
import { HeaderCodec, type Headers, headerBytesMax } from "./header-codec.ts";
import { openStreamsMax, SpdyConnection } from "./spdy-connection.ts";
import type { SpdyStream } from "./spdy-stream.ts";
import { SpdyClient } from "./testing.ts";

const headersOf = (entries: Record<string, string>): Headers => new Map(Object.entries(entries));

/** Serves the client, and calls `open` with every stream. */
function serve(open: (stream: SpdyStream) => void, refusalOf?: (headers: Headers) => string | undefined) {
  const client = new SpdyClient();
  const refused: string[] = [];
  const handler = refusalOf === undefined ? { open } : { open, refusalOf };
  const connection = new SpdyConnection(client.link, handler, (reason) => refused.push(reason));
  return { client, connection, refused, ended: connection.run() };
}

async function echo(stream: SpdyStream): Promise<void> {
  for await (const chunk of stream.input) await stream.write(chunk);
  await stream.write(Buffer.from(`end of ${stream.headers.get("name")}`));
  stream.end();
}

test("streams carry bytes both ways, each on its own", async () => {
  const { client, ended } = serve((stream) => void echo(stream));
  const first = await client.open(headersOf({ Name: "first" }));
  const second = await client.open(headersOf({ name: "second", "content-type": "text/plain" }));
  await client.data(first, "a");
  await client.data(second, "b");
  await client.data(first, "c", true);
  await client.data(second, "d", true);
  await until(() => client.hasEnded(first) && client.hasEnded(second));
  expect(client.textOf(first)).toBe("acend of first");
  expect(client.textOf(second)).toBe("bdend of second");
  expect(client.controls("synReply").map(({ payload }) => payload.readUInt32BE(0))).toEqual([first, second]);
  client.leave();
  await ended;
});

test("frames may arrive byte by byte, and several at once", async () => {
  const { client } = serve((stream) => void echo(stream));
  const sent: Uint8Array[] = [];
  const recorder = new SpdyClient();
  recorder.send = async (bytes) => void sent.push(bytes);
  const id = await recorder.open(headersOf({ name: "x" }));
  await recorder.data(id, "hello", true);
  for (const byte of Buffer.concat(sent)) await client.send(Uint8Array.of(byte));
  await until(() => client.hasEnded(id));
  expect(client.textOf(id)).toBe("helloend of x");
});

test("a stream that is opened with its end has no input", async () => {
  const { client } = serve((stream) => void echo(stream));
  const id = await client.open(headersOf({ name: "empty" }), finFlag);
  await until(() => client.hasEnded(id));
  expect(client.textOf(id)).toBe("end of empty");
});

test("pings are answered, unknown frames ignored", async () => {
  const { client } = serve(() => {});
  await client.send(controlFrame("ping", words(7)));
  const settings = controlFrame("ping", words(0, 0));
  settings[3] = 4;
  await client.send(settings);
  await client.send(controlFrame("ping", words(9)));
  await until(() => client.controls("ping").length === 2);
  expect(client.controls("ping").map(({ payload }) => payload.readUInt32BE(0))).toEqual([7, 9]);
});

test("a stream that is refused is reset, without a reply", async () => {
  const { client, refused } = serve(
    () => {},
    (headers) => (headers.get("port") === undefined ? '"port" header is required' : undefined),
  );
  const bad = await client.open(headersOf({ name: "x" }));
  await client.open(headersOf({ port: "80" }));
  await until(() => client.controls("synReply").length === 1);
  expect(client.controls("rstStream").map(({ payload }) => payload.readUInt32BE(0))).toEqual([bad]);
  expect(refused).toEqual(['"port" header is required']);
});

test("numbers of streams grow and are odd", async () => {
  const { client } = serve(() => {});
  await client.open(headersOf({}), 0, 5);
  await client.open(headersOf({}), 0, 3);
  await client.open(headersOf({}), 0, 6);
  await until(() => client.controls("rstStream").length === 2);
  expect(client.controls("rstStream").map(({ payload }) => [...payload])).toEqual([
    [0, 0, 0, 3, 0, 0, 0, 1],
    [0, 0, 0, 6, 0, 0, 0, 1],
  ]);
});

test(`attack 82: further streams are refused while ${openStreamsMax} are open`, async () => {
  const streams: SpdyStream[] = [];
  const { client } = serve((stream) => void streams.push(stream));
  for (let count = 0; count < openStreamsMax + 10; count++) await client.open(headersOf({}));
  await until(() => client.controls("rstStream").length === 10);
  expect(streams).toHaveLength(openStreamsMax);
  for (const stream of streams) stream.reset();
  await client.open(headersOf({}));
  await until(() => streams.length === openStreamsMax + 1);
});

test("a stream that nobody reads stops the client, and one that is discarded does not", async () => {
  const streams: SpdyStream[] = [];
  const { client } = serve((stream) => void streams.push(stream));
  const id = await client.open(headersOf({}));
  const text = "x".repeat(16 * 1024);
  let sent = 0;
  const sending = (async () => {
    for (; sent < 100; sent++) await client.data(id, text);
  })();
  await until(() => streams.length === 1);
  await Bun.sleep(20);
  expect(sent).toBeLessThan(20);
  streams[0]?.discardInput();
  await sending;
});

test("a server that cannot write reads nothing either, so that answers to pings do not pile up", async () => {
  const { client } = serve(() => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  client.stall = promise;
  let sent = 0;
  const ping = Buffer.concat(Array.from({ length: 1_000 }, () => controlFrame("ping", words(1))));
  const sending = (async () => {
    for (; sent < 100; sent++) await client.send(ping);
  })();
  await Bun.sleep(20);
  expect(sent).toBeLessThan(20);
  resolve();
  await sending;
  await until(() => client.controls("ping").length === 100_000);
});

test("closing ends all streams, then the connection", async () => {
  const streams: SpdyStream[] = [];
  const { client, connection, ended } = serve((stream) => void streams.push(stream));
  const id = await client.open(headersOf({}));
  await until(() => streams.length === 1);
  await streams[0]?.write(Buffer.from("last words"));
  connection.close();
  await until(() => client.controls("goAway").length === 1);
  expect(client.textOf(id)).toBe("last words");
  expect(client.hasEnded(id)).toBe(true);
  await streams[0]?.write(Buffer.from("too late"));
  for await (const _ of streams[0]?.input ?? []) throw new Error("there is no more input");
  client.leave();
  await ended;
  expect(client.textOf(id)).toBe("last words");
});

test("the reset of the client ends both sides", async () => {
  const streams: SpdyStream[] = [];
  const { client } = serve((stream) => void streams.push(stream));
  const id = await client.open(headersOf({}));
  await client.send(controlFrame("rstStream", words(id, 5)));
  await until(() => streams.length === 1);
  for await (const _ of streams[0]?.input ?? []) throw new Error("there is no input");
  await streams[0]?.write(Buffer.from("unheard"));
  expect(client.textOf(id)).toBe("");
});

const bomb = async () => {
  const codec = new HeaderCodec();
  const big = new Map(Array.from({ length: 40 }, (_, at) => [`name-${at}`, "x".repeat(1_500)]));
  return codec.encode(new Map([...big, ["more", "x".repeat(headerBytesMax)]])).catch(() => Buffer.alloc(0));
};

test.each([
  ["HTTP", async () => Buffer.from("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2))],
  ["another version", async () => Buffer.from([0x80, 2, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1])],
  ["a long control frame", async () => Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff])],
  ["a short stream frame", async () => Buffer.from(controlFrame("synStream", words(1)))],
  ["malformed headers", async () => Buffer.from(controlFrame("synStream", Buffer.alloc(40, 7)))],
  [
    "headers that unpack to too much",
    async () => Buffer.from(controlFrame("synStream", Buffer.concat([words(1, 0), Buffer.alloc(2), await bomb()]))),
  ],
])("%s ends the connection", async (_, bytesOf) => {
  const { client, ended } = serve(() => {});
  await client.send(await bytesOf());
  client.leave();
  await ended;
  expect(client.controls("synReply")).toEqual([]);
});
