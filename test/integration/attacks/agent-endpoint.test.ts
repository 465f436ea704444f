import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type TLSSocket } from "node:tls";
import { type Endpoint, openEndpoint } from "../../../src/agent/serving/endpoint.ts";
import {
  endpointOptions,
  KeptLog,
  runningPod,
  ScriptedDirectory,
  ScriptedReviews,
  scriptedRuntime,
  type TestCertificates,
  testCertificates,
} from "../../../src/agent/serving/testing.ts";
import { ManualClock } from "../../../src/storage/cacher/testing.ts";
import { until } from "../../until.ts";

const reviews = new ScriptedReviews();
reviews.tokens.set("metrics-reader", { username: "reader" });
reviews.tokens.set("administrator", { username: "admin" });
for (const verb of ["get", "create"]) {
  reviews.allowed.add(`reader ${verb} metrics n1`);
  reviews.allowed.add(`admin ${verb} proxy n1`);
}
const log = new KeptLog();
const clock = new ManualClock();
let commands = 0;
let sessions = 0;
const runtime = scriptedRuntime({
  async exec(_id, _command, { signal }, streams) {
    commands++;
    sessions++;
    try {
      // A process that never reads.
      if (streams.stdin !== undefined) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } finally {
      sessions--;
    }
    return 0;
  },
});

let certificates: TestCertificates;
let endpoint: Endpoint;
beforeAll(async () => {
  certificates = await testCertificates();
  const directory = new ScriptedDirectory();
  directory.add(runningPod(runtime, "web"));
  endpoint = await openEndpoint(
    endpointOptions(directory, certificates.tls, {
      client: reviews.client,
      access: { anonymous: false, tokenWebhook: true, authorizationMode: "Webhook" },
      log,
      clock,
      limits: { handshakeTimeoutMs: 3_000, headersTimeoutMs: 1_000, lingerMs: 500, connections: 40 },
    }),
  );
});
afterAll(() => endpoint.close(0));

/** A connection that sends exactly what it is told. */
class Attacker {
  readonly socket: TLSSocket;
  received = "";
  isClosed = false;

  constructor() {
    this.socket = connect({ port: endpoint.port, host: "127.0.0.1", ca: certificates.authority.cert });
    this.socket.on("data", (chunk: Buffer) => {
      this.received += chunk.toString("latin1");
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
  }

  async sends(...texts: readonly string[]): Promise<string> {
    for (const text of texts) this.socket.write(text, "latin1");
    await until(() => this.isClosed);
    return this.received;
  }
}

const head = (method: string, path: string, token: string, more = "") =>
  `${method} ${path} HTTP/1.1\r\nHost: n1\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;
const last = "Connection: close\r\n";

describe("attack 79: a path that authorization and routing could read differently", () => {
  test.each([
    "/metrics/../run/default/web/main?cmd=x",
    "/metrics/%2e%2e/run/default/web/main?cmd=x",
    "/metrics/..%2frun/default/web/main?cmd=x",
    "/metrics%2f..%2frun/default/web/main?cmd=x",
    "/metrics%00/run/default/web/main?cmd=x",
    "/metrics\\..\\run/default/web/main?cmd=x",
    "//run/default/web/main?cmd=x",
    "/./run/default/web/main?cmd=x",
    "/RUN/default/web/main?cmd=x",
    "/run%2fdefault%2fweb%2fmain?cmd=x",
    "/metrics;/../run/default/web/main?cmd=x",
    "/%6detrics/../run/default/web/main?cmd=x",
  ])("%s is refused and runs nothing", async (path) => {
    const before = commands;
    const answer = await new Attacker().sends(head("POST", path, "metrics-reader", `${last}Content-Length: 0\r\n`));
    expect(answer).toMatch(/^HTTP\/1\.1 40[034] /);
    expect(commands).toBe(before);
  });

  test("a path in the query is not a path", async () => {
    const before = commands;
    const path = "/metrics?/run/default/web/main";
    const answer = await new Attacker().sends(head("POST", path, "metrics-reader", `${last}Content-Length: 0\r\n`));
    expect(answer).toStartWith("HTTP/1.1 200 ");
    expect(answer).toContain("kubelet_running_pods");
    expect(commands).toBe(before);
  });
});

test("attack 80: a request behind an upgrade that is refused is not carried out", async () => {
  const before = commands;
  const upgrade = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n";
  const refused = head("POST", "/exec/default/web/main?command=x&output=1", "metrics-reader", upgrade);
  const hidden = head("POST", "/run/default/web/main?cmd=x", "administrator", "Content-Length: 0\r\n");
  const answer = await new Attacker().sends(refused + hidden);
  expect(answer).toStartWith("HTTP/1.1 403 ");
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(commands).toBe(before);
});

describe("attack 81: a client of the agent that sends slowly or much", () => {
  test("a head that does not end is cut off", async () => {
    await new Attacker().sends("GET /metrics HTTP/1.1\r\nHost: n1\r\n");
  });

  test("a head that is too long is a 431", async () => {
    const lines = `X-Long: ${"x".repeat(64 * 1024)}\r\n`.repeat(20);
    expect(await new Attacker().sends(`GET /metrics HTTP/1.1\r\nHost: n1\r\n${lines}\r\n`)).toContain("431");
  });

  test("a body is not waited for", async () => {
    const attacker = new Attacker();
    const answer = await attacker.sends(
      head("POST", "/run/default/web/main?cmd=x", "administrator", "Content-Length: 1000000\r\n"),
    );
    expect(answer).toStartWith("HTTP/1.1 200 ");
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  test("input that nobody reads is not collected", async () => {
    const attacker = new Attacker();
    const key = Buffer.alloc(16).toString("base64");
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n`;
    attacker.socket.write(head("GET", "/exec/default/web/main?command=x&input=1&output=1", "administrator", upgrade));
    await until(() => attacker.received.includes("101"));
    // A message for channel 0 without a mask to speak of.
    const message = Buffer.concat([Buffer.from([0x82, 0xfe, 0x80, 0, 0, 0, 0, 0]), Buffer.alloc(32_768)]);
    let sent = 0;
    while (attacker.socket.write(message) || attacker.socket.writableLength < 64 * 1024 * 1024) {
      sent += message.byteLength;
      if (sent > 256 * 1024 * 1024) break;
    }
    await Bun.sleep(200);
    // The kernel and the agent hold little of it.
    expect(attacker.socket.writableLength).toBeGreaterThan(32 * 1024 * 1024);
    attacker.socket.destroy();
    await until(() => {
      clock.advance(10_000);
      return sessions === 0;
    });
  });

  test("further connections are closed, and others are served when they are gone", async () => {
    const attackers = Array.from({ length: 60 }, () => new Attacker());
    await until(() => attackers.filter(({ isClosed }) => isClosed).length >= 20);
    await until(() => attackers.every(({ isClosed }) => isClosed));
    expect(await new Attacker().sends(head("GET", "/metrics", "metrics-reader", last))).toStartWith("HTTP/1.1 200 ");
  });
});

test("no token is in the log", () => {
  const text = log.lines.join("\n");
  for (const token of ["metrics-reader", "administrator"]) expect(text).not.toContain(token);
});
