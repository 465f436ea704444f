import { expect, test } from "bun:test";
import { encodeHeaders, HeaderDecoder } from "./header-block.ts";

const decode = (block: Buffer) => [...new HeaderDecoder().decode(block)];
const hex = (text: string) => Buffer.from(text.replace(/\s/g, ""), "hex");

test.each([0, 1, 126, 127, 128, 254, 255, 10_000])("a text of %d bytes is encoded and decoded", (length) => {
  const fields: [string, string][] = [
    [":path", "x".repeat(length)],
    ["after", "y"],
  ];
  expect(decode(encodeHeaders(fields))).toEqual(fields);
});

// From RFC 7541, appendix C, and as Go's server writes it.
test.each([
  ["88", [[":status", "200"]]],
  ["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [["custom-key", "custom-header"]]],
  ["1008 7061 7373 776f 7264 0673 6563 7265 74", [["password", "secret"]]],
  ["20 88", [[":status", "200"]]],
  ["48 0333 3037", [[":status", "307"]]],
])("%s", (block, fields) => expect(decode(hex(block))).toEqual(fields as [string, string][]));

test.each([
  ["80", "index 0"],
  ["be", "index 62"],
  ["3f e21f", "a header table"],
  ["00 05 61", "ends early"],
  ["00", "ends early"],
  ["ff ff ff ff ff ff ff", "too large"],
])("%s is refused: %s", (block, reason) => expect(() => decode(hex(block))).toThrow(reason));

// From RFC 7541, appendix C.5: responses with a table of 256 bytes, from which fields have to go.
test("later blocks refer to the fields of earlier ones, until there is no room for them", () => {
  const decoder = new HeaderDecoder(256);
  const blocks = [
    `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e
     1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
    "4803 3330 37c1 c0bf",
    `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d
     4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572
     7369 6f6e 3d31`,
  ];
  const [first, second, third] = blocks.map((block) => Object.fromEntries(decoder.decode(hex(block))));
  const same = { "cache-control": "private", location: "https://www.example.com" };
  expect(first).toEqual({ ":status": "302", ...same, date: "Mon, 21 Oct 2013 20:13:21 GMT" });
  expect(second).toEqual({ ":status": "307", ...same, date: "Mon, 21 Oct 2013 20:13:21 GMT" });
  expect(third).toEqual({
    ":status": "200",
    ...same,
    date: "Mon, 21 Oct 2013 20:13:22 GMT",
    "content-encoding": "gzip",
    "set-cookie": "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
  });
  // The date is the third of the newest fields; the four older ones are gone.
  expect([...decoder.decode(Buffer.of(0xc0))]).toEqual([["date", "Mon, 21 Oct 2013 20:13:22 GMT"]]);
  expect(() => decoder.decode(Buffer.of(0xc1))).toThrow("index 65");
});

test("a field that is larger than the table empties it", () => {
  const decoder = new HeaderDecoder(64);
  decoder.decode(hex("4001 6101 62"));
  expect([...decoder.decode(Buffer.of(0xbe))]).toEqual([["a", "b"]]);
  decoder.decode(Buffer.concat([hex("4001 6140"), Buffer.alloc(64, "x")]));
  expect(() => decoder.decode(Buffer.of(0xbe))).toThrow("index 62");
});

test("the table shrinks when its server says so", () => {
  const decoder = new HeaderDecoder();
  decoder.decode(hex("4001 6101 62"));
  decoder.decode(Buffer.of(0x20));
  expect(() => decoder.decode(Buffer.of(0xbe))).toThrow("index 62");
});
