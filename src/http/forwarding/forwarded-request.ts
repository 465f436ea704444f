import { Readable } from "node:stream";
import type { IncomingRequest } from "../../request/exchange.ts";
import { defaultLimits } from "../listener/limits.ts";
import { ReceivedRequest, type RequestHead } from "../listener/received-request.ts";

const lengthBytes = 4;

/**
 * Returns a request as bytes:
 *
 *     length of head · head (JSON) · body
 *
 * @throws StatusError if the body cannot be read
 */
export async function encodeForwarded(request: IncomingRequest): Promise<Buffer> {
  const { method, rawPath, headers, peer, remoteAddress, httpVersion } = request;
  const head: RequestHead = { method, rawPath, headers, peer, remoteAddress, httpVersion };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.allocUnsafe(lengthBytes);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, await request.body()]);
}

/** Returns the request in these bytes. */
export function decodeForwarded(bytes: Buffer): ReceivedRequest {
  const end = lengthBytes + bytes.readUInt32BE();
  const head = JSON.parse(bytes.toString("utf8", lengthBytes, end)) as RequestHead;
  const body = bytes.subarray(end);
  return new ReceivedRequest(head, body.length === 0 ? undefined : Readable.from([body]), defaultLimits);
}
