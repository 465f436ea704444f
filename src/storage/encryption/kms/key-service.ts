/** Version, health and current key of a key service. */
export interface KeyServiceStatus {
  readonly version: string;
  /** `ok`, or the reason why it is not. */
  readonly healthz: string;
  /** Id of the key that encrypts now. */
  readonly keyId: string;
}

/** A seed that a key service has encrypted. */
export interface EncryptedSeed {
  readonly ciphertext: Uint8Array;
  readonly keyId: string;
  /** Other data that the service needs to decrypt it. Stored in plain text. */
  readonly annotations: Readonly<Record<string, Uint8Array>>;
}

/** A service that holds keys and never shows them, as in version 2 of upstream's API for KMS plugins. */
export interface KeyService extends Disposable {
  /** @throws KeyServiceError */
  status(): Promise<KeyServiceStatus>;
  /**
   * @param uid names the call in the logs of the service
   * @throws KeyServiceError
   */
  encrypt(uid: string, seed: Uint8Array): Promise<EncryptedSeed>;
  /** @throws KeyServiceError */
  decrypt(uid: string, seed: EncryptedSeed): Promise<Uint8Array>;
}

/** A failed call. */
export class KeyServiceError extends Error {
  /** Name of the gRPC code, such as `DeadlineExceeded`. */
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "KeyServiceError";
    this.code = code;
  }
}
