import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { StartupError } from "../../../process/startup-error.ts";

/** The signing algorithm of a key: RS256 for RSA keys, and for curves one with a hash of their size. */
export type TokenAlgorithm = "RS256" | "ES256" | "ES384" | "ES512";

export interface TokenKey {
  /** Value of `kid`: base64url of the SHA-256 of the DER public key. */
  readonly id: string;
  readonly algorithm: TokenAlgorithm;
  readonly publicKey: KeyObject;
}
export interface SigningKey extends TokenKey {
  readonly privateKey: KeyObject;
}

const rsaBitsMin = 2048;
const curves: Readonly<Record<string, TokenAlgorithm>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};
const blockPattern = /-----BEGIN ([A-Z0-9 ]{1,64})-----[^-]*-----END \1-----/g;
/** Ignored PEM blocks. Files that OpenSSL wrote contain curve parameters before the key. */
const skippedBlocks = new Set(["EC PARAMETERS"]);

/**
 * Parses the keys of a PEM text. Private keys, public keys and certificates all yield their public key.
 * @param where the flag and file, for messages
 * @throws StartupError if there are no keys, or for a key that is too weak or of an unknown kind
 */
export function parseTokenKeys(pem: string, where: string): TokenKey[] {
  const blocks = [...pem.matchAll(blockPattern)].filter(([, label = ""]) => !skippedBlocks.has(label));
  if (blocks.length === 0) throw new StartupError(`${where} does not contain a PEM key: check the file`);
  return blocks.map(([block]) =>
    tokenKey(
      readKey(() => createPublicKey(block), where),
      where,
    ),
  );
}

/** Parses a signing key. @throws StartupError */
export function parseSigningKey(pem: string, where: string): SigningKey {
  const privateKey = readKey(() => createPrivateKey(pem), where);
  return { ...tokenKey(createPublicKey(privateKey), where), privateKey };
}

/** Returns the public half as a JSON Web Key of a key set. */
export function publicJwk({ id, algorithm, publicKey }: TokenKey): Record<string, unknown> {
  return { use: "sig", kid: id, alg: algorithm, ...publicKey.export({ format: "jwk" }) };
}

function readKey(read: () => KeyObject, where: string): KeyObject {
  try {
    return read();
  } catch (error) {
    throw new StartupError(`${where} contains an unreadable key: check the file`, { cause: error });
  }
}

function tokenKey(publicKey: KeyObject, where: string): TokenKey {
  const der = publicKey.export({ type: "spki", format: "der" });
  return {
    id: createHash("sha256").update(der).digest("base64url"),
    algorithm: algorithmOf(publicKey, where),
    publicKey,
  };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject, where: string): TokenAlgorithm {
  if (asymmetricKeyType === "rsa") {
    const { modulusLength = 0 } = asymmetricKeyDetails;
    if (modulusLength >= rsaBitsMin) return "RS256";
    throw new StartupError(`${where} contains an RSA key of ${modulusLength} bits: use one of ${rsaBitsMin} or more`);
  }
  const algorithm = curves[asymmetricKeyDetails.namedCurve ?? ""];
  if (asymmetricKeyType === "ec" && algorithm !== undefined) return algorithm;
  throw new StartupError(
    `${where} contains a key that cannot sign tokens: use RSA, or the curves P-256, P-384 or P-521`,
  );
}
