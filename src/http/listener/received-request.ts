import type { Readable } from "node:stream";
import { StatusError, status } from "../../api/status.ts";
import { systemClock } from "../../process/clock.ts";
import {
  type HeaderList,
  header,
  headerValues,
  type IncomingRequest,
  type PeerCertificate,
} from "../../request/exchange.ts";
import { Deadlines } from "../deadlines.ts";
import type { ListenerLimits } from "./limits.ts";

export interface RequestHead {
  readonly method: string;
  readonly rawPath: string;
  readonly headers: HeaderList;
  readonly peer: PeerCertificate;
  readonly remoteAddress: string;
  readonly httpVersion: "1.1" | "2";
}

const emptyBody = new Uint8Array();
const bodyDeadlines = new Deadlines(systemClock);

/** A request as the listener received it. Its body is read on demand. */
export class ReceivedRequest implements IncomingRequest {
  readonly method: string;
  readonly rawPath: string;
  readonly headers: HeaderList;
  readonly peer: PeerCertificate;
  readonly remoteAddress: string;
  readonly httpVersion: "1.1" | "2";
  readonly #source: Readable | undefined;
  readonly #limits: ListenerLimits;
  bodyBytes: number | undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;
  /** Stops reading the body. A listener on the signal would cost more than finishing. */
  #stopReading: ((reason: Error) => void) | undefined;
  onAbort: ((reason: Error) => void) | undefined;

  /** @param source stream of the body; undefined without one */
  constructor(head: RequestHead, source: Readable | undefined, limits: ListenerLimits) {
    this.method = head.method;
    this.rawPath = head.rawPath;
    this.headers = head.headers;
    this.peer = head.peer;
    this.remoteAddress = head.remoteAddress;
    this.httpVersion = head.httpVersion;
    this.#source = source;
    this.#limits = limits;
  }

  get hasBody(): boolean {
    return this.#source !== undefined;
  }

  get bodyStream(): Readable | undefined {
    return this.#source;
  }

  /** Made on first use, because most requests need none. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#abortReason !== undefined;
  }

  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#stopReading?.(this.#abortReason);
    this.onAbort?.(this.#abortReason);
    this.#controller?.abort(reason);
  }

  async body(): Promise<Uint8Array> {
    const isEncoded = header(this, "content-encoding") !== undefined;
    const encoding = isEncoded ? headerValues(this, "content-encoding").join(",").trim().toLowerCase() : "";
    if (encoding !== "" && encoding !== "identity") throw encodedBody(encoding);
    const limit = this.#limits.bodyBytes;
    return this.#source === undefined ? emptyBody : this.#read(this.#source, limit);
  }

  /**
   * A body that is declared too long is still read for a moment, because a client that is writing would miss the refusal.
   */
  #read(source: Readable, limit: number): Promise<Uint8Array> {
    const isTooLong = Number(header(this, "content-length") ?? 0) > limit;
    const tooLarge = () => status.requestEntityTooLarge(limit);
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = () => {
      bodyDeadlines.delete(deadline);
      this.#stopReading = undefined;
    };
    const fail = (error: Error) => {
      if (this.#stopReading === undefined) return;
      finish();
      source.removeAllListeners("data");
      source.resume();
      reject(error);
    };
    const deadline = isTooLong
      ? bodyDeadlines.add(this.#limits.lingerMs, () => fail(tooLarge()))
      : bodyDeadlines.add(this.#limits.bodyTimeoutMs, () => fail(bodyTimeout()));
    this.#stopReading = fail;
    source.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > limit) fail(tooLarge());
      else if (!isTooLong) chunks.push(chunk);
    });
    // Each event comes once at most, and removing a listener costs more than keeping it.
    source.on("end", () => {
      finish();
      this.bodyBytes = bytes;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    source.on("error", () => fail(clientGone()));
    // Every source closes in the end. An error object for each would cost as much as reading it.
    source.on("close", () => this.#stopReading !== undefined && fail(clientGone()));
    if (this.#abortReason !== undefined) fail(this.#abortReason);
    return promise;
  }
}

function clientGone(): StatusError {
  return status.badRequest("the request ended before its body was complete");
}

function bodyTimeout(): StatusError {
  const { status: value } = status.badRequest("the request body did not arrive in time");
  return new StatusError({ ...value, reason: "RequestTimeout", code: 408 });
}

function encodedBody(encoding: string): StatusError {
  const { status: value } = status.badRequest(
    `request bodies may not have a content encoding, got ${JSON.stringify(encoding)}`,
  );
  return new StatusError({ ...value, reason: "UnsupportedMediaType", code: 415 });
}
