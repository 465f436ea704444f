import { expect, test } from "bun:test";
import { constants, deflateSync } from "node:zlib";
import { HeaderCodec, headerBytesMax } from "./header-codec.ts";
import { headerDictionary } from "./header-dictionary.ts";

const flush = constants.Z_SYNC_FLUSH;

test("the dictionary is the one of the protocol", () => {
  expect(headerDictionary.byteLength).toBe(1_423);
  expect(new Bun.CryptoHasher("sha256").update(headerDictionary).digest("hex")).toBe(
    "51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02",
  );
});

test("each block is read with the memory of those before", async () => {
  using sender = new HeaderCodec();
  using receiver = new HeaderCodec();
  const headers = new Map([
    ["streamtype", "data"],
    ["port", "8080"],
    ["requestid", "17"],
  ]);
  const first = await sender.encode(headers);
  const second = await sender.encode(headers);
  expect(second.byteLength).toBeLessThan(first.byteLength);
  expect(await receiver.decode(first)).toEqual(headers);
  expect(await receiver.decode(second)).toEqual(headers);
});

test.each([
  ["cut off", Buffer.from([0, 0, 0, 1, 0, 0, 0, 9, 0x61])],
  ["without an end", Buffer.from([0, 0, 0, 2, 0, 0, 0, 1, 0x61, 0, 0, 0, 1, 0x62])],
  ["with a length beyond all", Buffer.from([0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])],
  ["with a repeated name", Buffer.from([0, 0, 0, 2, 0, 0, 0, 1, 0x61, 0, 0, 0, 0, 0, 0, 0, 1, 0x41, 0, 0, 0, 0])],
  ["empty", Buffer.alloc(0)],
])("a block %s is refused", async (_, block) => {
  using codec = new HeaderCodec();
  const packed = deflateSync(block, { dictionary: headerDictionary, finishFlush: flush });
  await expect(codec.decode(packed)).rejects.toThrow();
});

test("a block that unpacks to too much is refused before it is unpacked", async () => {
  using codec = new HeaderCodec();
  const packed = deflateSync(Buffer.alloc(headerBytesMax * 100), { dictionary: headerDictionary, finishFlush: flush });
  expect(packed.byteLength).toBeLessThan(headerBytesMax);
  await expect(codec.decode(packed)).rejects.toThrow("the headers are too long");
});

test("a block that is not compressed is refused", async () => {
  using codec = new HeaderCodec();
  await expect(codec.decode(Buffer.alloc(100, 7))).rejects.toThrow();
});
