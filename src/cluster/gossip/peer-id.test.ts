import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { publicKeyFromRaw } from "@libp2p/crypto/keys";
import { peerIdFromPublicKey } from "@libp2p/peer-id";
import { isPeerId, peerIdOf } from "./peer-id.ts";

function newPublicKey(): Uint8Array {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}

describe("peer ids", () => {
  test("are the same as libp2p's for the same key", () => {
    for (const key of [...Array.from({ length: 50 }, newPublicKey), new Uint8Array(32), new Uint8Array(32).fill(255)]) {
      const peerId = peerIdOf(key);
      expect(peerId).toBe(peerIdFromPublicKey(publicKeyFromRaw(key)).toString());
      expect(isPeerId(peerId)).toBe(true);
    }
  });

  test("are not made of half a key", () => {
    expect(() => peerIdOf(new Uint8Array(31))).toThrow("32 bytes");
  });

  const good = peerIdOf(newPublicKey());
  test.each([
    [""],
    [good.slice(1)],
    [`${good}1`],
    [good.toUpperCase()],
    [`${good.slice(0, -1)}0`],
    [`2${good.slice(1)}`],
    ["z".repeat(52)],
    ["1".repeat(52)],
    ["QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"],
    [` ${good.slice(1)}`],
  ])("are not %p", (text) => {
    expect(isPeerId(text)).toBe(false);
  });
});
