import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { HttpResponse, IncomingRequest, Reply } from "../../request/exchange.ts";
import { defaultLimits } from "../listener/limits.ts";
import { ReceivedRequest, type RequestHead } from "../listener/received-request.ts";
import { withForwarding } from "./forward-request.ts";
import { serveForwarded } from "./serve-forwarded.ts";

const root = mkdtempSync(join(tmpdir(), "forwarding-"));
afterAll(() => rmSync(root, { recursive: true }));
let sockets = 0;
const newPath = () => join(root, `${++sockets}`);

const verified = {
  kind: "verified",
  commonName: "näme",
  organizations: ["system:masters"],
  validFromMs: 1,
  validToMs: 2,
  fingerprint256: "AB",
  issuer: "x",
} as const;

function request(rawPath: string, head: Partial<RequestHead> = {}, body?: Uint8Array): ReceivedRequest {
  const rest = { method: "POST", headers: [], peer: { kind: "none" }, remoteAddress: "::1", httpVersion: "2" } as const;
  const source = body === undefined ? undefined : Readable.from([body]);
  return new ReceivedRequest({ ...rest, rawPath, ...head }, source, defaultLimits);
}

async function textOf({ kind, ...response }: HttpResponse): Promise<string> {
  const { body } = response as Extract<HttpResponse, { kind: "reply" }>;
  return kind === "reply" ? await new Response(body as AsyncGenerator<Uint8Array>).text() : "";
}

const here: HttpResponse = { kind: "reply", code: 200, headers: [], body: Buffer.from("here") };
const local = () => here;

test.each([
  ["/metrics", true],
  ["/metrics?x=1", true],
  ["/metrics/slis", true],
  ["/cluster/status", true],
  ["/metricsx", false],
  ["/cluster", false],
  ["/api/v1/namespaces/cluster/pods", false],
  ["//cluster/status", false],
])("%s is forwarded: %p", async (path, isForwarded) => {
  const socket = newPath();
  await using _server = serveForwarded(socket, () => ({ ...here, body: Buffer.from("there") }));
  const answer = await withForwarding(local, socket)(request(path));
  expect(await textOf(answer)).toBe(isForwarded ? "there" : "here");
});

test("the other process sees the request as it was received, and its answer comes back as it is", async () => {
  const socket = newPath();
  const seen: unknown[] = [];
  const body = Buffer.from([0, 255, 10, 13]);
  await using _server = serveForwarded(socket, async (received: IncomingRequest) => {
    const { method, rawPath, headers, peer, remoteAddress, httpVersion } = received;
    seen.push({ method, rawPath, headers, peer, remoteAddress, httpVersion }, Buffer.from(await received.body()));
    return {
      kind: "reply",
      code: 421,
      headers: [["x-leader", "https://a"]],
      body: [Buffer.from("a"), Buffer.from("b")],
    };
  });
  const head: RequestHead = {
    method: "PUT",
    rawPath: "/cluster/a%2Fb?c=d&c=e",
    headers: [
      ["accept", "a"],
      ["accept", "b"],
      ["content-length", "4"],
    ],
    peer: verified,
    remoteAddress: "10.0.0.1",
    httpVersion: "1.1",
  };
  const answer = await withForwarding(local, socket)(request(head.rawPath, head, body));
  expect(seen).toEqual([head, body]);
  expect(answer.code).toBe(421);
  expect(answer.headers).toContainEqual(["x-leader", "https://a"]);
  expect(await textOf(answer)).toBe("ab");
});

test("a stream arrives while it is written", async () => {
  const socket = newPath();
  const half = Promise.withResolvers<void>();
  await using _server = serveForwarded(socket, () => ({
    kind: "stream",
    code: 200,
    headers: [],
    async run(sink) {
      sink.write(Buffer.from("first"));
      await half.promise;
      sink.write(Buffer.from("second"));
    },
  }));
  const answer = await withForwarding(local, socket)(request("/cluster/snapshot"));
  const chunks = (answer as Reply).body as AsyncGenerator<Uint8Array>;
  expect(Buffer.from((await chunks.next()).value ?? []).toString()).toBe("first");
  half.resolve();
  expect(Buffer.from((await chunks.next()).value ?? []).toString()).toBe("second");
  expect((await chunks.next()).done).toBe(true);
});

test("a client that leaves aborts the request in the other process", async () => {
  const socket = newPath();
  const aborted = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  await using _server = serveForwarded(socket, async (received) => {
    received.signal.addEventListener("abort", () => aborted.resolve());
    arrived.resolve();
    await aborted.promise;
    return here;
  });
  const sent = request("/cluster/status");
  const answer = withForwarding(local, socket)(sent);
  await arrived.promise;
  sent.abort(new Error("the client is gone"));
  await aborted.promise;
  expect((await answer).code).toBe(503);
});

test("a body that is too long, and a process that is gone, get a Status", async () => {
  const forward = withForwarding(local, newPath());
  expect((await forward(request("/cluster/status"))).code).toBe(503);
  const long = request("/cluster/join", {}, Buffer.alloc(defaultLimits.bodyBytes + 1));
  expect((await forward(long)).code).toBe(413);
});
