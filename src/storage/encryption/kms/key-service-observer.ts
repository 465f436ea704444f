/** Counts what happens between the server and its key services. */
export interface KeyServiceObserver {
  /** @param code name of the gRPC code of the answer */
  called(provider: string, method: string, seconds: number, code: string): void;
  keyUsed(direction: "from_storage" | "to_storage", provider: string, keyId: string): void;
  keyReported(provider: string, keyId: string): void;
  wrongKeyReported(provider: string, problem: "empty" | "too_long"): void;
  /** A value was met whose seed has to be decrypted by the service. */
  seedMissed(): void;
  seedsKnown(provider: string, count: number): void;
  seedMade(seconds: number): void;
}
