import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type TLSSocket } from "node:tls";
import { until } from "../../../test/until.ts";
import { type ProcessStreams, RuntimeError } from "../runtime/runtime.ts";
import { type Endpoint, openEndpoint } from "./endpoint.ts";
import { SpdyClient } from "./streaming/spdy/testing.ts";
import {
  endpointOptions,
  runningPod,
  ScriptedDirectory,
  scriptedRuntime,
  type TestCertificates,
  testCertificates,
} from "./testing.ts";

let certificates: TestCertificates;
let endpoint: Endpoint;
const sizes: unknown[] = [];
let aborted = 0;
let forwarding = 0;

const runtime = scriptedRuntime({
  async exec(_id, [name = "", ...rest], { signal }, streams) {
    if (name === "wait") return waitForAbort(signal);
    return shell(name, rest, streams);
  },
  async attach(_id, { tty }, streams) {
    await streams.stdout?.(Buffer.from(`tty=${tty} stderr=${streams.stderr !== undefined}`));
  },
  async portForward(_id, port, { input, output, signal }) {
    if (port === 81) throw new Error("connection refused");
    forwarding++;
    try {
      if (port === 82) await waitForAbort(signal);
      for await (const chunk of input) await output(Buffer.from(chunk.toString().toUpperCase()));
    } finally {
      forwarding--;
    }
  },
});

async function shell(name: string, rest: readonly string[], streams: ProcessStreams): Promise<number> {
  if (name === "sizes") {
    for await (const size of streams.resize ?? []) {
      sizes.push(size);
      if (sizes.length === 2) break;
    }
    return 0;
  }
  if (name === "cat") for await (const chunk of streams.stdin ?? []) await streams.stdout?.(chunk);
  if (name === "echo") await streams.stdout?.(Buffer.from(rest.join(" ")));
  if (name === "fail") {
    await streams.stderr?.(Buffer.from("a warning"));
    return 3;
  }
  return 0;
}

function waitForAbort(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => {
      aborted++;
      resolve(137);
    }),
  );
}

beforeAll(async () => {
  certificates = await testCertificates();
  const directory = new ScriptedDirectory();
  directory.add(runningPod(runtime, "web"));
  directory.add(runningPod(refusing, "refusing"));
  directory.add(
    runningPod(runtime, "terminal", {
      spec: { nodeName: "n1", containers: [{ name: "main", image: "i", tty: true, stdin: true }] },
    }),
  );
  endpoint = await openEndpoint(endpointOptions(directory, certificates.tls, { streamingIdleTimeoutMs: 60_000 }));
});
afterAll(() => endpoint.close(0));

/** A client of SPDY over a real connection. */
class SpdySession extends SpdyClient {
  readonly #socket: TLSSocket;
  head = "";

  private constructor(socket: TLSSocket) {
    super();
    this.#socket = socket;
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      if (this.head !== "") return this.receive(chunk);
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.head = received.toString("latin1", 0, end + 4);
      this.refusal = received.toString("latin1", end + 4);
      if (this.head.startsWith("HTTP/1.1 101")) this.receive(received.subarray(end + 4));
    });
    socket.on("error", () => {});
  }

  /** The body of an answer that refuses. */
  refusal = "";

  static async start(path: string, protocol: string | undefined, upgrade = "SPDY/3.1"): Promise<SpdySession> {
    const socket = connect({ port: endpoint.port, host: "127.0.0.1", ca: certificates.authority.cert });
    const session = new SpdySession(socket);
    const version = protocol === undefined ? "" : `X-Stream-Protocol-Version: ${protocol}\r\n`;
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n${version}Content-Length: 0\r\n\r\n`,
    );
    await until(() => session.head !== "");
    return session;
  }

  override async send(bytes: Uint8Array): Promise<void> {
    this.#socket.write(bytes);
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  override leave(): void {
    this.#socket.destroy();
  }

  /** Opens streams of these types, and returns their numbers. */
  async streams(...types: readonly string[]): Promise<number[]> {
    const ids: number[] = [];
    for (const streamType of types) ids.push(await this.open(new Map([["streamtype", streamType]])));
    return ids;
  }
}

const refusing = scriptedRuntime({
  async acceptExec(_id, [code = ""]) {
    const codes = ["NotFound", "ResourceExhausted"] as const;
    throw new RuntimeError("RuntimeError", `refused with ${code}`, codes.find((one) => one === code) ?? "Unknown");
  },
  async acceptAttach() {
    return async ({ stdout }) => stdout?.(Buffer.from("accepted before"));
  },
});

const exec = (query: string) => `/exec/default/web/main?${query}`;

describe("exec over SPDY", () => {
  const failure = {
    metadata: {},
    status: "Failure",
    message: "command terminated with non-zero exit code: error executing command [fail], exit code 3",
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: "3" }] },
  };

  test.each([
    ["v4.channel.k8s.io", JSON.stringify(failure)],
    ["v3.channel.k8s.io", failure.message],
    ["v2.channel.k8s.io", failure.message],
    ["channel.k8s.io", failure.message],
  ])("%s", async (protocol, expected) => {
    const session = await SpdySession.start(exec("command=fail&output=1&error=1"), `${protocol},unknown`);
    expect(session.head).toContain(`x-stream-protocol-version: ${protocol}\r\n`);
    const [error = 0, stdout = 0, stderr = 0] = await session.streams("error", "stdout", "stderr");
    await until(() => session.isClosed);
    expect([error, stdout, stderr].map((id) => session.textOf(id))).toEqual([expected, "", "a warning"]);
  });

  test("a success is silent in the old protocols, and a Status in v4", async () => {
    const old = await SpdySession.start(exec("command=echo&command=hi&output=1"), "v2.channel.k8s.io");
    const [oldError = 0, oldOut = 0] = await old.streams("error", "stdout");
    await until(() => old.isClosed);
    expect([old.textOf(oldError), old.textOf(oldOut)]).toEqual(["", "hi"]);
    const session = await SpdySession.start(exec("command=echo&command=hi&output=1"), "v4.channel.k8s.io");
    const [error = 0, stdout = 0] = await session.streams("error", "stdout");
    await until(() => session.isClosed);
    expect([session.textOf(error), session.textOf(stdout)]).toEqual(['{"metadata":{},"status":"Success"}', "hi"]);
  });

  test("the sizes of a terminal reach the process", async () => {
    const session = await SpdySession.start(exec("command=sizes&output=1&tty=1"), "v4.channel.k8s.io");
    const [, , resize = 0] = await session.streams("error", "stdout", "resize");
    await session.data(resize, '{"Width":80,"Height":24}\n{"Wid');
    await session.data(resize, 'th":100,"Height":30}\n');
    await until(() => session.isClosed);
    expect(sizes).toEqual([
      { width: 80, height: 24 },
      { width: 100, height: 30 },
    ]);
  });

  test("the process is aborted when the client goes", async () => {
    const before = aborted;
    const session = await SpdySession.start(exec("command=wait&output=1"), "v4.channel.k8s.io");
    await session.streams("error", "stdout");
    await until(() => session.controls("synReply").length === 2);
    session.leave();
    await until(() => aborted === before + 1);
  });

  test.each([
    [
      undefined,
      "SPDY/3.1",
      400,
      "unable to upgrade: header X-Stream-Protocol-Version does not exist in request with 4 headers",
    ],
    [
      "v9.channel.k8s.io",
      "SPDY/3.1",
      403,
      "unable to upgrade: unable to negotiate protocol: client supports [v9.channel.k8s.io], server accepts [v4.channel.k8s.io v3.channel.k8s.io v2.channel.k8s.io channel.k8s.io]",
    ],
    ["v4.channel.k8s.io", "other", 400, "Upgrade request required"],
  ])("%s as %s is a %d", async (protocol, upgrade, code, text) => {
    const session = await SpdySession.start(exec("command=echo&output=1"), protocol, upgrade);
    await until(() => session.isClosed);
    expect(session.head).toStartWith(`HTTP/1.1 ${code} `);
    expect(session.refusal).toBe(text);
  });
});

describe("a runtime that refuses a session", () => {
  test.each([
    ["NotFound", 404],
    ["ResourceExhausted", 429],
    ["Unknown", 500],
  ])("with %s is answered with %d instead of a switch of protocols", async (code, status) => {
    const path = `/exec/default/refusing/main?command=${code}&output=1`;
    const session = await SpdySession.start(path, "v4.channel.k8s.io");
    await until(() => session.isClosed);
    expect(session.head).toStartWith(`HTTP/1.1 ${status} `);
    expect(session.head.includes("retry-after: 60\r\n")).toBe(status === 429);
    expect(session.refusal).toBe(`refused with ${code}`);
  });

  test("another session is the one that it has accepted", async () => {
    const session = await SpdySession.start("/attach/default/refusing/main?output=1", "v4.channel.k8s.io");
    const [, stdout = 0] = await session.streams("error", "stdout");
    await until(() => session.isClosed);
    expect(session.textOf(stdout)).toBe("accepted before");
  });
});

/** A session over a WebSocket: messages as texts by channel. */
class WebSocketSession {
  readonly received = new Map<number, string>();
  readonly socket: WebSocket;
  closeCode = 0;

  constructor(path: string, protocols: string[]) {
    const options = { protocols, tls: { ca: certificates.authority.cert } };
    this.socket = new WebSocket(`wss://127.0.0.1:${endpoint.port}${path}`, options);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => {
      const message =
        typeof data === "string"
          ? Buffer.concat([Uint8Array.of(data.charCodeAt(0) - 48), Buffer.from(data.slice(1), "base64")])
          : Buffer.from(data as ArrayBuffer);
      const channel = message[0] as number;
      this.received.set(channel, (this.received.get(channel) ?? "") + message.toString("latin1", 1));
    };
    this.socket.onclose = ({ code }) => {
      this.closeCode = code;
    };
  }

  send(channel: number, text: string): void {
    if (this.socket.protocol.includes("base64")) {
      this.socket.send(`${channel}${Buffer.from(text).toString("base64")}`);
    } else this.socket.send(Buffer.concat([Uint8Array.of(channel), Buffer.from(text)]));
  }

  async opened(): Promise<this> {
    await until(() => this.socket.readyState !== WebSocket.CONNECTING);
    return this;
  }

  async ended(): Promise<Record<number, string>> {
    await until(() => this.closeCode !== 0);
    return Object.fromEntries(this.received);
  }
}

describe("exec over a WebSocket", () => {
  const success = '{"metadata":{},"status":"Success"}';

  test.each([
    [["v5.channel.k8s.io"], success],
    [["unknown", "v4.channel.k8s.io"], success],
    [["v4.base64.channel.k8s.io"], success],
    [["channel.k8s.io"], undefined],
    [["base64.channel.k8s.io"], undefined],
    [[], undefined],
  ])("%p", async (protocols, status) => {
    const session = new WebSocketSession(exec("command=echo&command=hi&output=1"), protocols);
    const received = await session.ended();
    expect(received).toEqual({ 1: "hi", ...(status === undefined ? {} : { 3: status }) });
    expect(session.closeCode).toBe(1000);
  });

  test("v5 ends the input alone", async () => {
    const session = await new WebSocketSession(exec("command=cat&input=1&output=1"), ["v5.channel.k8s.io"]).opened();
    session.send(0, "some ");
    session.send(0, "input");
    session.socket.send(Uint8Array.of(255, 0));
    expect(await session.ended()).toEqual({ 1: "some input", 3: success });
  });

  test("messages for channels that are not open are discarded", async () => {
    const session = await new WebSocketSession(exec("command=cat&input=1&output=1"), ["v5.channel.k8s.io"]).opened();
    for (const channel of [1, 2, 3, 4, 77]) session.send(channel, "x");
    session.socket.send("");
    session.send(0, "input");
    session.socket.send(Uint8Array.of(255, 0));
    expect(await session.ended()).toEqual({ 1: "input", 3: success });
  });

  test("a message that is too long ends the session", async () => {
    const before = aborted;
    const session = await new WebSocketSession(exec("command=wait&input=1&output=1"), ["v5.channel.k8s.io"]).opened();
    session.socket.send(new Uint8Array(2 * 1024 * 1024));
    await session.ended();
    expect(session.closeCode).toBe(1009);
    await until(() => aborted === before + 1);
  });

  test("the process is aborted when the client closes", async () => {
    const before = aborted;
    const session = await new WebSocketSession(exec("command=wait&output=1"), ["v4.channel.k8s.io"]).opened();
    session.socket.close();
    await until(() => aborted === before + 1);
  });
});

test("attach has a terminal if the container has one, whatever the client asks for", async () => {
  const without = new WebSocketSession("/attach/default/web/main?output=1&tty=1", ["v5.channel.k8s.io"]);
  expect((await without.ended())[1]).toBe("tty=false stderr=false");
  const withOne = new WebSocketSession("/attach/default/terminal/main?output=1&error=1", ["v5.channel.k8s.io"]);
  expect((await withOne.ended())[1]).toBe("tty=true stderr=false");
});

describe("port-forward", () => {
  const path = "/portForward/default/web";

  async function pair(session: SpdySession, port: string, requestid?: string): Promise<[error: number, data: number]> {
    const id: [string, string][] = requestid === undefined ? [] : [["requestid", requestid]];
    const error = await session.open(new Map([["streamtype", "error"], ["port", port], ...id]));
    const data = await session.open(new Map([["streamtype", "data"], ["port", port], ...id]));
    return [error, data];
  }

  test("pairs of streams are connections, with and without the id of a request", async () => {
    const session = await SpdySession.start(path, "portforward.k8s.io");
    const pairs = [await pair(session, "80", "a"), await pair(session, "80"), await pair(session, "81", "b")];
    const [[, first], [, second], [refused, broken]] = pairs as [[number, number], [number, number], [number, number]];
    await session.data(first, "one", true);
    await session.data(second, "two", true);
    await until(() => session.hasEnded(first) && session.hasEnded(second) && session.hasEnded(refused));
    expect([session.textOf(first), session.textOf(second)]).toEqual(["ONE", "TWO"]);
    expect(session.textOf(refused)).toBe("error forwarding port 81 to pod web, uid uid-of-web: connection refused");
    expect(session.controls("rstStream").map(({ payload }) => payload.readUInt32BE(0))).toEqual([broken]);
    session.leave();
  });

  test.each([
    [{ streamtype: "data" }],
    [{ streamtype: "data", port: "x" }],
    [{ streamtype: "data", port: "0" }],
    [{ streamtype: "data", port: "65536" }],
    [{ port: "80" }],
    [{ streamtype: "other", port: "80" }],
  ])("a stream with %p is reset", async (headers) => {
    const session = await SpdySession.start(path, "portforward.k8s.io");
    await session.open(new Map(Object.entries(headers)));
    await until(() => session.controls("rstStream").length === 1);
    expect(session.controls("synReply")).toEqual([]);
    session.leave();
  });

  test("connections end when the client goes", async () => {
    const session = await SpdySession.start(path, "portforward.k8s.io");
    for (let count = 0; count < 5; count++) await pair(session, "82", String(count));
    await until(() => forwarding === 5);
    session.leave();
    await until(() => forwarding === 0);
  });

  test("the old form over a WebSocket has two channels for each port", async () => {
    const session = await new WebSocketSession(`${path}?port=80,81&port=8080`, ["v4.channel.k8s.io"]).opened();
    session.send(0, "hi");
    await until(() => (session.received.get(0) ?? "").length === 4);
    expect(session.received.get(0)).toBe("\x50\x00HI");
    expect(session.received.get(1)).toBe("\x50\x00");
    expect(session.received.get(3)).toBe(
      "\x51\x00error forwarding port 81 to pod web, uid uid-of-web: connection refused",
    );
    expect(session.received.get(4)).toBe("\x90\x1f");
    session.socket.close();
    await until(() => forwarding === 0);
  });

  test.each([
    ["", 'query parameter "port" is required'],
    ["?port=", 'query parameter "port" cannot be empty'],
    ["?port=80,x", 'unable to parse "80,x" as a port: strconv.ParseUint: parsing "x": invalid syntax'],
    ["?port=0", 'port "0" must be > 0'],
    [`?port=${Array(128).fill(80).join()}`, "at most 127 ports may be forwarded"],
  ])("the old form with %p is a 400", async (query, text) => {
    const key = Buffer.alloc(16).toString("base64");
    const upgrade = `websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}`;
    const session = await SpdySession.start(`${path}${query}`, undefined, upgrade);
    await until(() => session.isClosed);
    expect(session.head).toStartWith("HTTP/1.1 400 ");
    expect(session.refusal).toBe(text);
  });
});

test("many sessions at once are served, and all end with the endpoint", async () => {
  const directory = new ScriptedDirectory();
  directory.add(runningPod(runtime, "web"));
  const own = await openEndpoint(endpointOptions(directory, certificates.tls));
  const before = aborted;
  const sockets = Array.from({ length: 100 }, () => {
    const options = { protocols: ["v5.channel.k8s.io"], tls: { ca: certificates.authority.cert } };
    return new WebSocket(`wss://127.0.0.1:${own.port}${exec("command=wait&output=1")}`, options);
  });
  await until(() => sockets.every(({ readyState }) => readyState === WebSocket.OPEN));
  await own.close(5_000);
  expect(aborted).toBe(before + 100);
  await until(() => sockets.every(({ readyState }) => readyState === WebSocket.CLOSED));
});

test("a session in which nothing happens is closed", async () => {
  const directory = new ScriptedDirectory();
  directory.add(runningPod(runtime, "web"));
  const own = await openEndpoint(endpointOptions(directory, certificates.tls, { streamingIdleTimeoutMs: 50 }));
  const before = aborted;
  const options = { protocols: ["v5.channel.k8s.io"], tls: { ca: certificates.authority.cert } };
  const socket = new WebSocket(`wss://127.0.0.1:${own.port}${exec("command=wait&output=1")}`, options);
  await until(() => socket.readyState === WebSocket.CLOSED);
  await until(() => aborted === before + 1);
  await own.close(0);
});
