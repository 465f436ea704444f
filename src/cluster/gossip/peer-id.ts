/**
 * A peer id is the text of an Ed25519 public key: base58 of a multihash that holds the key itself. It is created and
 * checked here without libp2p, which is loaded only in a cluster with other members.
 */
export type PeerId = string;

const publicKeyBytes = 32;
/**
 * Identity multihash of 36 bytes. It contains a protobuf message: key type 1 is Ed25519, and 32 bytes of key follow.
 */
const prefix = Uint8Array.of(0x00, 0x24, 0x08, 0x01, 0x12, 0x20);
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const textLength = 52;

export function peerIdOf(publicKey: Uint8Array): PeerId {
  if (publicKey.length !== publicKeyBytes) throw new Error(`an Ed25519 key has ${publicKeyBytes} bytes`);
  return base58(Buffer.concat([prefix, publicKey]));
}

/** Reports whether `text` is a peer id in its one canonical form. */
export function isPeerId(text: string): boolean {
  if (text.length !== textLength) return false;
  const bytes = fromBase58(text);
  return bytes?.length === prefix.length + publicKeyBytes && prefix.every((byte, at) => bytes[at] === byte);
}

function base58(bytes: Uint8Array): string {
  let text = "";
  for (let rest = BigInt(`0x${Buffer.from(bytes).toString("hex")}`); rest > 0n; rest /= 58n) {
    text = alphabet.charAt(Number(rest % 58n)) + text;
  }
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return alphabet.charAt(0).repeat(zeros === -1 ? bytes.length : zeros) + text;
}

function fromBase58(text: string): Uint8Array | undefined {
  let value = 0n;
  for (const character of text) {
    const digit = alphabet.indexOf(character);
    if (digit === -1) return undefined;
    value = value * 58n + BigInt(digit);
  }
  const hex = value === 0n ? "" : value.toString(16);
  const zeros = text.length - text.replace(/^1+/, "").length;
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex")]);
}
