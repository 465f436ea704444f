import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import fc from "fast-check";
import { fieldErrorText } from "../field-error.ts";
import { type Cidr, containsIp, type IpAddress, parseCidr, parseIp, validateIp, validateNonSpecialIp } from "./ip.ts";

describe("an address is read", () => {
  test.each([
    ["10.0.0.1", "IPv4", "10.0.0.1"],
    ["010.000.0.1", "IPv4", "10.0.0.1"],
    ["::ffff:10.0.0.1", "IPv4", "10.0.0.1"],
    ["::", "IPv6", "::"],
    ["2001:DB8:0:0:1:0:0:1", "IPv6", "2001:db8::1:0:0:1"],
    ["1:0:0:2:0:0:0:3", "IPv6", "1:0:0:2::3"],
    ["fe80::1.2.3.4", "IPv6", "fe80::102:304"],
  ] as const)("%s", (text, family, canonical) => {
    expect(parseIp(text)).toMatchObject({ family, text: canonical });
  });
});

test.each([
  "",
  "1.2.3",
  "1.2.3.256",
  "1.2.3.4.5",
  "a.b.c.d",
  ":::",
  "1:2",
  "1::2::3",
  "12345::",
  "fe80::1%eth0",
  "1.2.3.4::",
])("%p is not an address", (text) =>
  expect(validateIp(text, "ip").map(fieldErrorText)).toEqual([
    `ip: Invalid value: ${JSON.stringify(text)}: must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
  ]),
);

test.each(["", "1.2.3.4", "1.2.3.4/33", "::/129", "1.2.3.4/", "1.2.3.4/a", "1.2.3.4/8/8", "1.2.3.4/-1"])(
  "%p is no range",
  (text) => expect(parseCidr(text)).toBeUndefined(),
);

test("every address that the platform accepts is accepted, and its canonical text means the same", () => {
  const group = fc.nat(0xffff).map((value) => value.toString(16));
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string(),
    fc.array(group, { minLength: 7, maxLength: 9 }).map((all) => all.join(":")),
  );
  fc.assert(
    fc.property(address, (text) => {
      const ip = parseIp(text);
      if (isIP(text) !== 0 && !text.includes("%")) expect(ip).toBeDefined();
      if (ip !== undefined) {
        expect(isIP(ip.text)).toBe(ip.family === "IPv4" ? 4 : 6);
        expect(parseIp(ip.text)).toEqual(ip);
      }
    }),
  );
});

test.each([
  ["10.0.0.0/8", "10.255.0.1", true],
  ["10.0.0.0/8", "11.0.0.1", false],
  ["10.0.0.0/12", "10.15.0.1", true],
  ["10.0.0.0/12", "10.16.0.1", false],
  ["0.0.0.0/0", "255.0.0.1", true],
  ["::/0", "10.0.0.1", false],
  ["2001:db8::/33", "2001:db8:7fff::", true],
  ["2001:db8::/33", "2001:db8:8000::", false],
] as const)("%s contains %s: %p", (range, address, expected) => {
  expect(containsIp(parseCidr(range) as Cidr, parseIp(address) as IpAddress)).toBe(expected);
});

test.each([
  ["0.0.0.0", "may not be unspecified (0.0.0.0)"],
  ["0::0", "may not be unspecified (0::0)"],
  ["::1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["169.254.169.254", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["224.0.0.7", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
  ["x", "must be a valid IP address"],
])("%s is not an endpoint", (address, problem) => {
  expect(validateNonSpecialIp(address, "ip").map(fieldErrorText)).toEqual([
    `ip: Invalid value: ${JSON.stringify(address)}: ${problem}`,
  ]);
});
