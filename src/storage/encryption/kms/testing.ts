import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { AesGcm } from "../aes.ts";
import { type EncryptedSeed, type KeyService, KeyServiceError, type KeyServiceStatus } from "./key-service.ts";
import type { KeyServiceObserver } from "./key-service-observer.ts";
import { messageCodec } from "./messages.ts";

const context = { key: "", resource: "" };

/** A key service in memory. Each key id stands for a key. */
export class FakeKeyService implements KeyService {
  keyId = "key-1";
  /** Id of the key that encrypts, if it differs from the reported one. */
  encryptsWith: string | undefined;
  healthz = "ok";
  version = "v2";
  /** Whether calls fail. */
  isDown = false;
  /** Calls wait for this. */
  gate: Promise<void> = Promise.resolve();
  /** Keys that no longer decrypt. */
  readonly lostKeys = new Set<string>();
  readonly calls: string[] = [];

  async status(): Promise<KeyServiceStatus> {
    await this.#called("Status");
    return { version: this.version, healthz: this.healthz, keyId: this.keyId };
  }

  async encrypt(_uid: string, seed: Uint8Array): Promise<EncryptedSeed> {
    await this.#called("Encrypt");
    const keyId = this.encryptsWith ?? this.keyId;
    const annotations = { "fake.example.com": Buffer.from("1") };
    return { ciphertext: cipherOf(keyId).toStorage(seed, context), keyId, annotations };
  }

  async decrypt(_uid: string, { ciphertext, keyId, annotations }: EncryptedSeed): Promise<Uint8Array> {
    await this.#called("Decrypt");
    if (this.lostKeys.has(keyId)) throw failure("the key is lost");
    if (!Buffer.from("1").equals(annotations["fake.example.com"] ?? Buffer.of())) throw failure("no annotation");
    return cipherOf(keyId).fromStorage(ciphertext, context).plain;
  }

  [Symbol.dispose](): void {
    this.isDown = true;
  }

  async #called(name: string): Promise<void> {
    this.calls.push(name);
    await this.gate;
    if (this.isDown) throw failure("the service is down");
  }
}

function failure(detail: string): KeyServiceError {
  return new KeyServiceError("Unknown", `rpc error: code = Unknown desc = ${detail}`);
}

function cipherOf(keyId: string): AesGcm {
  return new AesGcm(createHash("sha256").update(`key of ${keyId}`).digest());
}

/** A KMS plugin: serves a key service over gRPC. */
export class KmsPlugin implements AsyncDisposable {
  readonly service = new FakeKeyService();
  readonly path: string;
  #server: Server | undefined;

  constructor(path: string) {
    this.path = path;
  }

  async start(): Promise<void> {
    rmSync(this.path, { force: true });
    const server = new Server();
    const { service } = this;
    addMethod(server, "Status", messageCodec("StatusRequest"), messageCodec("StatusResponse"), () => service.status());
    addMethod(server, "Encrypt", messageCodec("EncryptRequest"), messageCodec("EncryptResponse"), (request) =>
      service.encrypt(request.uid, request.plaintext),
    );
    addMethod(server, "Decrypt", messageCodec("DecryptRequest"), messageCodec("DecryptResponse"), async (request) => ({
      plaintext: await service.decrypt(request.uid, request),
    }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.bindAsync(`unix:${this.path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
    await promise;
    this.#server = server;
  }

  /** Ends all connections. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }
}

interface Codec<Message> {
  encode(message: Message): Buffer;
  decode(bytes: Uint8Array): Message;
}

function addMethod<Request, Response>(
  server: Server,
  name: string,
  request: Codec<Request>,
  response: Codec<Response>,
  run: (request: Request) => Promise<Response>,
): void {
  const definition = {
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: request.encode,
    requestDeserialize: request.decode,
    responseSerialize: response.encode,
    responseDeserialize: response.decode,
  };
  const handle = (call: ServerUnaryCall<Request, Response>, end: sendUnaryData<Response>) => {
    run(call.request).then(
      (answer) => end(null, answer),
      (error: Error) => end({ code: status.UNKNOWN, details: error.message }),
    );
  };
  server.addService({ [name]: definition }, { [name]: handle });
}

/** An observer that writes down what it is told. */
export function recordingObserver(): KeyServiceObserver & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    called: (provider, method, _seconds, code) => void seen.push(`${provider} ${method} ${code}`),
    keyUsed: (direction, _provider, keyId) => void seen.push(`${direction} ${keyId}`),
    keyReported: (_provider, keyId) => void seen.push(`reported ${keyId}`),
    wrongKeyReported: (_provider, problem) => void seen.push(`wrong key ${problem}`),
    seedMissed: () => void seen.push("missed"),
    seedsKnown: (_provider, count) => void seen.push(`seeds ${count}`),
    seedMade: () => void seen.push("made"),
  };
}
