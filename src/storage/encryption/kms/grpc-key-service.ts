import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { grpcCodeName } from "../../../process/grpc-code.ts";
import { type EncryptedSeed, type KeyService, KeyServiceError, type KeyServiceStatus } from "./key-service.ts";
import type { KeyServiceObserver } from "./key-service-observer.ts";
import { type MessageCodec, messageCodec } from "./messages.ts";

const servicePath = "/v2.KeyManagementService";
/** The socket is local, so a service that comes back is found soon. */
const reconnectMs = { "grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 2_000 };
/** A call waits for a service that is not there yet, until its time is over. */
const waiting = new Metadata({ waitForReady: true });

const codecs = {
  Status: { request: messageCodec("StatusRequest"), response: messageCodec("StatusResponse") },
  Encrypt: { request: messageCodec("EncryptRequest"), response: messageCodec("EncryptResponse") },
  Decrypt: { request: messageCodec("DecryptRequest"), response: messageCodec("DecryptResponse") },
} as const;

export interface GrpcKeyServiceOptions {
  /** Name of the provider, for metrics. */
  readonly provider: string;
  /** Path of the Unix socket. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly observer: KeyServiceObserver;
}

/** A key service behind a Unix socket. */
export class GrpcKeyService implements KeyService {
  readonly #options: GrpcKeyServiceOptions;
  readonly #client: Client;

  constructor(options: GrpcKeyServiceOptions) {
    this.#options = options;
    const settings = { "grpc.default_authority": "localhost", ...reconnectMs };
    this.#client = new Client(`unix:${options.path}`, credentials.createInsecure(), settings);
  }

  async status(): Promise<KeyServiceStatus> {
    return this.#call("Status", codecs.Status, {});
  }

  async encrypt(uid: string, seed: Uint8Array): Promise<EncryptedSeed> {
    return this.#call("Encrypt", codecs.Encrypt, { plaintext: seed, uid });
  }

  async decrypt(uid: string, { ciphertext, keyId, annotations }: EncryptedSeed): Promise<Uint8Array> {
    return (await this.#call("Decrypt", codecs.Decrypt, { ciphertext, uid, keyId, annotations })).plaintext;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #call<Request, Response>(
    name: string,
    { request, response }: { request: MessageCodec<Request>; response: MessageCodec<Response> },
    message: Request,
  ): Promise<Response> {
    const { provider, timeoutMs, observer } = this.#options;
    const path = `${servicePath}/${name}`;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const startedMs = performance.now();
    const end = (error: ServiceError | null, answer: Response | undefined) => {
      const failure = error === null ? undefined : failureOf(error);
      observer.called(provider, path, (performance.now() - startedMs) / 1_000, failure?.code ?? "OK");
      if (failure !== undefined) reject(failure);
      else resolve(answer as Response);
    };
    const options = { deadline: Date.now() + timeoutMs };
    this.#client.makeUnaryRequest(path, request.encode, response.decode, message, waiting, options, end);
    return promise;
  }
}

/** Returns an error with the text of Go's gRPC library. */
function failureOf({ code, details }: ServiceError): KeyServiceError {
  const name = grpcCodeName(code);
  // Our library's text on deadlines contains times, which differ with each call.
  const detail = code === status.DEADLINE_EXCEEDED ? "context deadline exceeded" : details;
  return new KeyServiceError(name, `rpc error: code = ${name} desc = ${detail}`);
}
