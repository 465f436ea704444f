import { isIP } from "node:net";
import { checkServerIdentity as checkIdentity, type PeerCertificate } from "node:tls";
import { thrownText } from "../../../process/thrown-text.ts";
import type { EtcdSecrets } from "./etcd-credentials.ts";
import type { EtcdEndpoint } from "./etcd-endpoint.ts";
import { EtcdError, type EtcdErrorKind } from "./etcd-error.ts";
import { GrpcSession } from "./grpc/grpc-session.ts";
import { GrpcSocket, type ServerSecurity } from "./grpc/grpc-socket.ts";
import { grpcCode, type StreamEnd } from "./grpc/stream-end.ts";
import { type Method, methods, type WatchCreateRequest, type WatchResponse } from "./messages.ts";

/** Maximum size of a response. Pages of ranges adapt to it, and etcd splits the responses of watches. */
const responseBytesMax = 64 * 1024 * 1024;

/** The name for servers that are known by an address. */
const addressName = "localhost";

export interface WatchListener {
  response(response: WatchResponse): void;
  /** Called once, unless the watch was cancelled here. */
  ended(error: EtcdError): void;
}

/** A connection to one member of etcd. It is opened once; when it breaks, it stays closed. */
export class EtcdConnection implements Disposable {
  readonly endpoint: EtcdEndpoint;
  readonly #session: GrpcSession;
  readonly #watches = new Set<(error: EtcdError) => void>();

  /** @param onEnd called once, when it takes no more requests */
  constructor(endpoint: EtcdEndpoint, secrets: EtcdSecrets, onEnd?: (error: EtcdError) => void) {
    this.endpoint = endpoint;
    const { address, host, isSecure } = endpoint;
    const socket = new GrpcSocket(address, isSecure ? securityOf(endpoint, secrets) : undefined, {
      received: (chunk) => this.#session.receive(chunk),
      closed: (reason) => this.#session.close(reason),
    });
    this.#session = new GrpcSession({
      transport: socket,
      headers: [
        [":scheme", isSecure ? "https" : "http"],
        [":authority", host],
        ["content-type", "application/grpc"],
        ["te", "trailers"],
        // A member that has lost its leader refuses requests at once.
        ["hasleader", "true"],
      ],
      messageBytesMax: responseBytesMax,
      onEnd: (reason) => onEnd?.(this.#interrupted(reason)),
    });
  }

  /** Whether it takes requests. */
  get isOpen(): boolean {
    return this.#session.refusal === undefined;
  }

  /** Makes one attempt. @throws EtcdError */
  async call<Request, Response>(
    method: Method<Request, Response>,
    message: Request,
    timeoutMs: number,
  ): Promise<Response> {
    this.#requireOpen();
    const { path, request, response } = method;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let answer: Response | undefined;
    let failure: unknown;
    const stream = this.#session.open(
      { path, message: request.encode(message), timeoutMs },
      {
        message: (bytes) => {
          try {
            answer = response.decode(bytes);
          } catch (error) {
            failure = error;
          }
        },
        ended: (end) => {
          clearTimeout(timer);
          if (end.kind !== "status" || end.code !== grpcCode.ok) reject(this.#errorOf(end));
          else if (answer !== undefined) resolve(answer);
          else reject(this.#interrupted(failure === undefined ? "an answer without a message" : thrownText(failure)));
        },
      },
    );
    const timer = setTimeout(() => {
      stream.cancel();
      reject(this.#interrupted(`no answer within ${Math.round(timeoutMs)} ms`));
    }, timeoutMs);
    return promise;
  }

  /** Opens a watch on a stream of its own. Disposing of it cancels it without a call of `ended`. @throws EtcdError */
  watch(createRequest: WatchCreateRequest, listener: WatchListener): Disposable {
    this.#requireOpen();
    const { path, request, response } = methods.watch;
    let isOver = false;
    const cancel = (): void => {
      isOver = true;
      this.#watches.delete(end);
      stream.cancel();
    };
    const end = (error: EtcdError): void => {
      if (isOver) return;
      cancel();
      listener.ended(error);
    };
    this.#watches.add(end);
    const stream = this.#session.open(
      { path, message: request.encode({ createRequest }), staysOpen: true },
      {
        message: (bytes) => {
          let decoded: WatchResponse;
          try {
            decoded = response.decode(bytes);
          } catch (error) {
            return end(this.#interrupted(thrownText(error)));
          }
          listener.response(decoded);
        },
        ended: (streamEnd) => {
          const isOk = streamEnd.kind === "status" && streamEnd.code === grpcCode.ok;
          end(isOk ? this.#interrupted("the server ended the watch") : this.#errorOf(streamEnd));
        },
      },
    );
    return { [Symbol.dispose]: cancel };
  }

  /** Ends the watches, and closes. If the server only asked to leave, the requests under way are still answered. */
  retire(): void {
    if (!this.#session.isLeaving) return this[Symbol.dispose]();
    for (const end of this.#watches) end(this.#interrupted("the connection was given up"));
  }

  [Symbol.dispose](): void {
    this.#session.close("the connection was given up");
  }

  #requireOpen(): void {
    const { refusal } = this.#session;
    if (refusal !== undefined) throw new EtcdError("notSent", this.#textOf(refusal));
  }

  #errorOf(end: StreamEnd): EtcdError {
    switch (end.kind) {
      case "unprocessed":
        return new EtcdError("notSent", this.#textOf(end.reason));
      case "broken":
        return this.#interrupted(end.reason);
      case "status": {
        const kind = kindOf(end.code, end.message);
        return kind === "interrupted" ? this.#interrupted(end.message) : new EtcdError(kind, end.message);
      }
    }
  }

  #interrupted(reason: string): EtcdError {
    return new EtcdError("interrupted", this.#textOf(reason));
  }

  #textOf(reason: string): string {
    return `${this.endpoint.url}: ${reason}`;
  }
}

function securityOf({ host }: EtcdEndpoint, { ca, certificate, key }: EtcdSecrets): ServerSecurity {
  return {
    ...(ca === null ? {} : { ca }),
    ...(certificate === null ? {} : { cert: certificate }),
    ...(key === null ? {} : { key }),
    // TLS allows only names here, but the certificate must have the host of the URL.
    servername: isIP(host) === 0 ? host : addressName,
    checkServerIdentity: (_name: string, presented: PeerCertificate) => checkIdentity(host, presented),
  };
}

function kindOf(code: number, message: string): EtcdErrorKind {
  switch (code) {
    case grpcCode.outOfRange:
      return message.includes("compacted") ? "compacted" : "future";
    case grpcCode.resourceExhausted:
      if (message.includes("database space exceeded")) return "noSpace";
      return message.includes("too many requests") ? "tooManyRequests" : "tooLarge";
    case grpcCode.invalidArgument:
      if (message.includes("request is too large")) return "tooLarge";
      return message.includes("revision of auth store is old") ? "notSent" : "other";
    case grpcCode.notFound:
      return message.includes("lease not found") ? "leaseNotFound" : "other";
    case grpcCode.permissionDenied:
    case grpcCode.unauthenticated:
      return "denied";
    case grpcCode.failedPrecondition:
      return message.includes("lease already exists") ? "leaseExists" : "other";
    case grpcCode.unimplemented:
      return "other";
    default:
      return "interrupted";
  }
}
