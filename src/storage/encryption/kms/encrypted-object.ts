import { fieldErrorText } from "../../../api/field-error.ts";
import { sha256Text } from "../../../api/sha256-text.ts";
import { validateFullyQualifiedDomainName } from "../../../api/validation/domain-names.ts";
import type { EncryptedSeed } from "./key-service.ts";
import { messageCodec } from "./messages.ts";

/** How the key of a value follows from what the key service decrypts. */
export const seedTypes = {
  /** It is the key itself. kube-apiserver wrote such values before 1.29. */
  key: 0,
  /** See SeedCipher. */
  seed: 1,
} as const;

/** A stored value, with all that is needed to decrypt it except the key service. */
export interface EncryptedObject {
  readonly seed: EncryptedSeed;
  readonly seedType: number;
  readonly data: Uint8Array;
}

const seedBytesMax = 1_024;
const keyIdBytesMax = 1_024;
const annotationBytesMax = 32 * 1_024;

const codec = messageCodec("EncryptedObject");

export function encodeEncryptedObject({ seed, seedType, data }: EncryptedObject): Uint8Array {
  const { ciphertext, keyId, annotations } = seed;
  return codec.encode({ encryptedData: data, keyId, encryptedSeed: ciphertext, annotations, seedType });
}

/** @throws Error with upstream's message */
export function decodeEncryptedObject(bytes: Uint8Array): EncryptedObject {
  const { encryptedData, keyId, encryptedSeed, annotations, seedType } = decoded(bytes);
  if (seedType !== seedTypes.key && seedType !== seedTypes.seed) {
    throw new Error(`unknown encryptedDEKSourceType: ${seedType}`);
  }
  if (encryptedData.length === 0) throw new Error("encrypted data is empty");
  const seed = { ciphertext: encryptedSeed, keyId, annotations };
  refuseInvalidSeed(seed);
  return { seed, seedType, data: encryptedData };
}

function decoded(bytes: Uint8Array): ReturnType<typeof codec.decode> {
  try {
    return codec.decode(bytes);
  } catch {
    throw new Error("proto: cannot parse invalid wire-format data");
  }
}

/** @throws Error with upstream's message for a seed that must not be stored */
export function refuseInvalidSeed({ ciphertext, keyId, annotations }: EncryptedSeed): void {
  if (ciphertext.length === 0)
    throw new Error("failed to validate encrypted DEK source: encrypted DEK source is empty");
  if (ciphertext.length > seedBytesMax) {
    const detail = `encrypted DEK source is ${ciphertext.length} bytes, which exceeds the max size of ${seedBytesMax}`;
    throw new Error(`failed to validate encrypted DEK source: ${detail}`);
  }
  const keyProblem = keyIdProblem(keyId);
  if (keyProblem !== undefined) throw new Error(`failed to validate key id: ${keyProblem.message}`);
  const problems = annotationProblems(annotations);
  if (problems.length === 0) return;
  throw new Error(
    `failed to validate annotations: ${problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`}`,
  );
}

export interface KeyIdProblem {
  readonly kind: "empty" | "too_long";
  readonly message: string;
}

export function keyIdProblem(keyId: string): KeyIdProblem | undefined {
  const length = Buffer.byteLength(keyId);
  if (length === 0) return { kind: "empty", message: "keyID is empty" };
  if (length <= keyIdBytesMax) return undefined;
  return { kind: "too_long", message: `keyID is ${length} bytes, which exceeds the max size of ${keyIdBytesMax}` };
}

function annotationProblems(annotations: EncryptedSeed["annotations"]): string[] {
  const problems: string[] = [];
  let size = 0;
  for (const [name, value] of Object.entries(annotations)) {
    problems.push(...validateFullyQualifiedDomainName(name, "annotations").map(fieldErrorText));
    size += Buffer.byteLength(name) + value.length;
  }
  if (size > annotationBytesMax) {
    problems.push(`total size of annotations is ${size}, which exceeds the max size of ${annotationBytesMax}`);
  }
  return problems;
}

/** Returns a name for a seed. Equal seeds have equal names, and no others. */
export function seedId({ ciphertext, keyId, annotations }: EncryptedSeed, seedType: number): string {
  let id = `${seedType} ${keyId.length} ${ciphertext.length} ${keyId}${latin1Text(ciphertext)}`;
  for (const name of Object.keys(annotations).sort()) {
    const value = annotations[name] as Uint8Array;
    id += ` ${name} ${value.length} ${latin1Text(value)}`;
  }
  return id;
}

function latin1Text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** Returns a key id in the form for logs and messages. */
export function keyIdHash(keyId: string): string {
  return keyId === "" ? "" : sha256Text(keyId);
}
