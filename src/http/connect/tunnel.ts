import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { status } from "../../api/status.ts";
import { authorityOf } from "../../client/dial-error.ts";
import type { HeaderList, HttpResponse, StreamReply } from "../../request/exchange.ts";
import { header, type IncomingRequest, type UpgradedSocket } from "../../request/exchange.ts";
import { type Backend, dial, forwardedHeaders, returnedHeaders } from "./backend.ts";
import { readResponseHead, requestHead } from "./http1-head.ts";

/** Maximum length of a backend's refusal that is passed on. */
const refusalBytesMax = 64 * 1024;
const refusalWaitMs = 5_000;
/** Time for one side to take the bytes that the other sent before it closed. */
const lastBytesMsMax = 30_000;

/**
 * Asks the backend to upgrade to the client's protocol, and then copies bytes both ways until one side ends. Sends none
 * of the client's bytes before the backend has agreed.
 * @param forwarded headers for the backend besides those of the upgrade
 * @throws StatusError 500 if the backend cannot be reached
 */
export async function tunnel(
  request: IncomingRequest,
  client: UpgradedSocket,
  backend: Backend,
  path: string,
  forwarded: HeaderList = forwardedHeaders(request.headers),
): Promise<HttpResponse> {
  const socket = await orDialError(dial(backend));
  const abandon = () => socket.destroy();
  client.socket.once("close", abandon);
  try {
    socket.write(
      requestHead(request.method, path, [
        ["host", authorityOf(backend)],
        ...forwarded,
        ["connection", "Upgrade"],
        ["upgrade", header(request, "upgrade") ?? ""],
        ...(request.method === "POST" ? ([["content-length", "0"]] as const) : []),
      ]),
    );
    const { code, headers, rest } = await orDialError(readResponseHead(socket));
    if (code !== 101) return await refusal(code, returnedHeaders(headers), socket, rest);
    return switched(headers, client, socket, rest);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    client.socket.off("close", abandon);
  }
}

async function orDialError<T>(attempt: Promise<T>): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    throw status.unconverted(`error dialing backend: ${(error as Error).message}`);
  }
}

function switched(
  headers: readonly (readonly [string, string])[],
  client: UpgradedSocket,
  backend: Socket,
  rest: Buffer,
): StreamReply {
  return {
    kind: "stream",
    code: 101,
    headers,
    async run() {
      if (rest.byteLength > 0) client.socket.write(rest);
      if (client.head.byteLength > 0) backend.write(client.head);
      await joined(client.socket, backend);
    },
  };
}

/** Resolves when both sides are closed. The end of one ends the other, once that has the bytes sent before. */
async function joined(a: Duplex, b: Duplex): Promise<void> {
  a.pipe(b);
  b.pipe(a);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (socket: Duplex) => {
    if (socket.destroyed) return;
    socket.end();
    // Nobody takes its bytes any more, but its end comes after them.
    socket.resume();
    timer ??= setTimeout(() => socket.destroy(), lastBytesMsMax);
  };
  const closed = async (socket: Duplex, other: Duplex) => {
    if (!socket.destroyed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    end(other);
  };
  await Promise.all([closed(a, b), closed(b, a)]);
  clearTimeout(timer);
}

/** Returns the start of the backend's answer if it refuses. The connection is not used again. */
async function refusal(code: number, headers: [string, string][], socket: Socket, rest: Buffer): Promise<HttpResponse> {
  const declared = Number(headers.find(([name]) => name === "content-length")?.[1] ?? refusalBytesMax);
  const body = await readUpTo(socket, rest, Math.min(refusalBytesMax, Number.isFinite(declared) ? declared : 0));
  socket.destroy();
  const kept = headers.filter(([name]) => name === "content-type");
  return { kind: "reply", code: code < 200 ? 502 : code, headers: kept, body };
}

function readUpTo(socket: Socket, rest: Buffer, bytesMax: number): Promise<Uint8Array> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>();
  let received = rest;
  const done = () => {
    clearTimeout(timer);
    resolve(received.subarray(0, bytesMax));
  };
  const timer = setTimeout(done, refusalWaitMs);
  if (received.byteLength >= bytesMax) done();
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.byteLength >= bytesMax) done();
  });
  socket.once("close", done);
  socket.resume();
  return promise;
}
