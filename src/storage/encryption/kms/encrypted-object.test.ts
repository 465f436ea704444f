import { expect, test } from "bun:test";
import { decodeEncryptedObject, encodeEncryptedObject, keyIdHash, seedId, seedTypes } from "./encrypted-object.ts";
import { SeedCipher } from "./seed-cipher.ts";

const seed = { ciphertext: Buffer.from("sealed"), keyId: "k", annotations: { "a.example.com": Buffer.from("x") } };
const data = Buffer.from("data");

// The value of a Secret as kube-apiserver 1.36.2 wrote it with a KMS plugin, and the seed that the plugin returned.
const key = "/registry/secrets/default/vec";
const recordedSeed = "0b8fe1d8cf09d5c46cf270eda5ee8bce438463694411392cf2061bbd46d42251";
const recorded =
  "CqgC7AhFydwSdGmXAkbGoczQhbXLXYSeDfuHTy5JPjw/EdlzzMjTxXuF9D9H/Gnq15KCzugNgDcIK/wnYK7zCQMLET+LeSx1ggyP8YzOCGyVks37s9TAdARmk3cBEoomFkC36l6vXUUp4dNGfa54+eXbiINy88jPisQ2Zm4y1ExljllqDP74rHQddN3Cx3TYIzGBzVfiF4AaDdpxgui105HJJwqK1LS0HhfA2ZQL952bokx6pElkYl/r4ayri5gCfailKiNVJ/WchJxhbSUBNbrwzQ9EI/xTMWlYTih+MMm0+g/eq1dvOQoYXtOWzjfkB/SAWd/hgOQErEvxzMyh7hjwhvVWWtQr77gGgoCnjiG/dMRCOledVAH6SpxhRqas+YiWwmMBi2iad7USAmsxGjwGdOsuGEnf9cu4aSx5s5/NIO9zoQl/R5gE8yQ2Uit9CZ8nusDEKOqtdDd/4A4TvySf79V1uHOKg/placQiGAoTdmVyc2lvbi5leGFtcGxlLmNvbRIBMSgB";

function problemOf(object: Parameters<typeof encodeEncryptedObject>[0]): string {
  try {
    decodeEncryptedObject(encodeEncryptedObject(object));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

test("a value of kube-apiserver is read, and encoded to the same bytes", () => {
  const bytes = Buffer.from(recorded, "base64");
  const object = decodeEncryptedObject(bytes);
  expect([object.seed.keyId, object.seedType]).toEqual(["k1", seedTypes.seed]);
  expect(Object.keys(object.seed.annotations)).toEqual(["version.example.com"]);
  const { plain } = new SeedCipher(Buffer.from(recordedSeed, "hex")).fromStorage(object.data, { key, resource: "" });
  expect(Buffer.from(plain).toString("latin1")).toContain("vector-plain");
  expect(Buffer.from(encodeEncryptedObject(object)).equals(bytes)).toBe(true);
});

test("a value of a cipher opens only with its seed, its key and all its bytes", () => {
  const cipher = new SeedCipher(Buffer.alloc(32, 1));
  const stored = Buffer.from(cipher.toStorage(data, { key, resource: "" }));
  expect(Buffer.from(cipher.fromStorage(stored, { key, resource: "" }).plain)).toEqual(data);
  expect(Buffer.from(cipher.toStorage(data, { key, resource: "" })).equals(stored)).toBe(false);
  const refused = "cipher: message authentication failed";
  expect(() => cipher.fromStorage(stored, { key: "/other", resource: "" })).toThrow(refused);
  expect(() => new SeedCipher(Buffer.alloc(32, 2)).fromStorage(stored, { key, resource: "" })).toThrow(refused);
  for (let at = 0; at < stored.length; at++) {
    const changed = Buffer.from(stored);
    changed[at] = (changed[at] as number) ^ 1;
    expect(() => cipher.fromStorage(changed, { key, resource: "" })).toThrow(refused);
  }
  expect(() => cipher.fromStorage(stored.subarray(0, 31), { key, resource: "" })).toThrow("shorter than the required");
  expect(() => new SeedCipher(Buffer.alloc(31))).toThrow("invalid seed length 31 used for key generation");
});

test.each([
  [{ seed, seedType: 7, data }, "unknown encryptedDEKSourceType: 7"],
  [{ seed, seedType: 1, data: Buffer.of() }, "encrypted data is empty"],
  [
    { seed: { ...seed, ciphertext: Buffer.of() }, seedType: 1, data },
    "failed to validate encrypted DEK source: encrypted DEK source is empty",
  ],
  [
    { seed: { ...seed, ciphertext: Buffer.alloc(1025) }, seedType: 1, data },
    "failed to validate encrypted DEK source: encrypted DEK source is 1025 bytes, which exceeds the max size of 1024",
  ],
  [{ seed: { ...seed, keyId: "" }, seedType: 1, data }, "failed to validate key id: keyID is empty"],
  [
    { seed: { ...seed, keyId: "k".repeat(1025) }, seedType: 1, data },
    "failed to validate key id: keyID is 1025 bytes, which exceeds the max size of 1024",
  ],
  [
    { seed: { ...seed, annotations: { short: Buffer.of(1) } }, seedType: 1, data },
    'failed to validate annotations: annotations: Invalid value: "short": should be a domain with at least two segments separated by dots',
  ],
  [
    { seed: { ...seed, annotations: { "a.b": Buffer.alloc(32 * 1024 - 2) } }, seedType: 1, data },
    "failed to validate annotations: total size of annotations is 32769, which exceeds the max size of 32768",
  ],
])("%#: a value that breaks a rule gets upstream's message", (object, message) => {
  expect(problemOf(object)).toBe(message);
});

test("other bytes are refused, and a seed is named by all of its parts", () => {
  expect(() => decodeEncryptedObject(Buffer.from([0x0a, 0xff]))).toThrow("proto: cannot parse");
  const ids = [
    seedId(seed, 0),
    seedId(seed, 1),
    seedId({ ...seed, keyId: "l" }, 1),
    seedId({ ...seed, ciphertext: Buffer.from("sealedk"), keyId: "" }, 1),
    seedId({ ...seed, annotations: {} }, 1),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  const annotations = { "b.c": Buffer.of(1), "a.b": Buffer.of(2) };
  const reversed = { "a.b": Buffer.of(2), "b.c": Buffer.of(1) };
  expect(seedId({ ...seed, annotations }, 1)).toBe(seedId({ ...seed, annotations: reversed }, 1));
  expect([keyIdHash(""), keyIdHash("k1").slice(0, 15)]).toEqual(["", "sha256:6ab9f1eb"]);
});
