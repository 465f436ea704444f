import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { grpcCodeName } from "../../../process/grpc-code.ts";
import { RuntimeError } from "../runtime.ts";
import { type Draft, type Message, type MessageCodec, type MessageName, messageCodec } from "./messages.ts";

/** The calls of runtime.v1 that have a message `<Method>Request` and one `<Method>Response`. */
export type Method = MessageName extends infer Name ? (Name extends `${infer Word}Request` ? Word : never) : never;

const imageMethods: ReadonlySet<Method> = new Set([
  "ListImages",
  "ImageStatus",
  "PullImage",
  "RemoveImage",
  "ImageFsInfo",
]);

/** The largest message of a runtime, as the node agent of upstream accepts it. */
const messageBytesMax = 16 * 1024 * 1024;
const channelOptions = {
  "grpc.default_authority": "localhost",
  "grpc.max_receive_message_length": messageBytesMax,
  "grpc.max_send_message_length": messageBytesMax,
  // The socket is local, so a runtime that comes back is found soon.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 3_000,
};
const runtimeCodes: ReadonlyMap<number, RuntimeError["code"]> = new Map([
  [status.NOT_FOUND, "NotFound"],
  [status.RESOURCE_EXHAUSTED, "ResourceExhausted"],
  [status.UNIMPLEMENTED, "Unimplemented"],
  [status.UNAVAILABLE, "Unavailable"],
  [status.DEADLINE_EXCEEDED, "DeadlineExceeded"],
]);

export interface CriClientOptions {
  /** The socket: `unix:///run/containerd/containerd.sock`, or a path. */
  readonly endpoint: string;
  /** Time for a call that names none of its own. */
  readonly timeoutMs: number;
}

interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The `reason` of the error if the call fails. */
  readonly reason?: string;
  /** Leaves the code out of the error's message, as upstream does for what it shows as the reason of a container. */
  readonly isBare?: boolean;
}

/** A container runtime behind a Unix socket. Every call has a deadline. */
export class CriClient implements Disposable {
  readonly timeoutMs: number;
  readonly #client: Client;
  readonly #codecs = new Map<MessageName, MessageCodec<MessageName>>();

  constructor({ endpoint, timeoutMs }: CriClientOptions) {
    this.timeoutMs = timeoutMs;
    this.#client = new Client(addressOf(endpoint), credentials.createInsecure(), channelOptions);
  }

  /** @throws RuntimeError */
  call<Name extends Method>(
    method: Name,
    request: Draft<`${Name}Request`>,
    { timeoutMs = this.timeoutMs, signal, reason = "RuntimeError", isBare = false }: CallOptions = {},
  ): Promise<Message<`${Name}Response`>> {
    const { promise, resolve, reject } = Promise.withResolvers<Message<`${Name}Response`>>();
    const input = this.#codec(`${method}Request`);
    const output = this.#codec(`${method}Response`);
    const end = (error: ServiceError | null, answer: Message<`${Name}Response`> | undefined) => {
      if (error === null && answer !== undefined) resolve(answer);
      else reject(failureOf(error, reason, isBare));
    };
    const call = this.#client.makeUnaryRequest(
      pathOf(method),
      input.encode,
      output.decode,
      request,
      new Metadata(),
      { deadline: Date.now() + timeoutMs },
      end,
    );
    const cancel = () => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    return promise.finally(() => signal?.removeEventListener("abort", cancel));
  }

  /**
   * Yields what the runtime tells about containers until the signal aborts.
   * @throws RuntimeError, with `Unimplemented` if the runtime tells nothing
   */
  async *events(signal: AbortSignal): AsyncGenerator<Message<"GetContainerEventsResponse">> {
    const method = "GetContainerEvents";
    const call = this.#client.makeServerStreamRequest(
      pathOf(method),
      this.#codec(`${method}Request`).encode,
      this.#codec(`${method}Response`).decode,
      {},
    );
    const cancel = () => call.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      for await (const event of call) yield event as Message<"GetContainerEventsResponse">;
    } catch (error) {
      if (!signal.aborted) throw failureOf(error as ServiceError, "RuntimeError", false);
    } finally {
      signal.removeEventListener("abort", cancel);
      call.cancel();
    }
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #codec<Name extends MessageName>(name: Name): MessageCodec<Name> {
    let codec = this.#codecs.get(name) as MessageCodec<Name> | undefined;
    if (codec === undefined) {
      codec = messageCodec(name);
      this.#codecs.set(name, codec as unknown as MessageCodec<MessageName>);
    }
    return codec;
  }
}

function pathOf(method: Method): string {
  return `/runtime.v1.${imageMethods.has(method) ? "ImageService" : "RuntimeService"}/${method}`;
}

function addressOf(endpoint: string): string {
  return `unix:${endpoint.replace(/^unix:(?:\/\/)?/, "")}`;
}

/** Returns an error with the text of Go's gRPC library. */
function failureOf(error: ServiceError | null, reason: string, isBare: boolean): RuntimeError {
  if (error === null) return new RuntimeError(reason, "the runtime answered without a message");
  const { code, details } = error;
  // Our library's text on deadlines contains times, which differ with each call.
  const detail = code === status.DEADLINE_EXCEEDED ? "context deadline exceeded" : details;
  const message = isBare ? detail : `rpc error: code = ${grpcCodeName(code)} desc = ${detail}`;
  return new RuntimeError(reason, message, runtimeCodes.get(code) ?? "Unknown");
}
