import { expect, test } from "bun:test";
import { fieldErrorText } from "../field-error.ts";
import {
  validateCanonicalCidr,
  validateCanonicalIp,
  validateStrictCidr,
  validateStrictIp,
  warnAboutCidr,
  warnAboutIp,
} from "./strict-ip.ts";

test.each([
  ["10.0.0.1", undefined, undefined],
  ["a", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)", undefined],
  ["010.0.0.1", "must not have leading 0s", undefined],
  ["::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address", undefined],
  ["fd00:0::7", undefined, 'must be in canonical form ("fd00::7")'],
  ["FD00::7", undefined, 'must be in canonical form ("fd00::7")'],
])("the address %s", (text, strict, canonical) => {
  const causes = (problem: string | undefined) =>
    problem === undefined ? [] : [`f: Invalid value: "${text}": ${problem}`];
  expect(validateStrictIp(text, "f").map(fieldErrorText)).toEqual(causes(strict));
  expect(validateCanonicalIp(text, "f").map(fieldErrorText)).toEqual(causes(strict ?? canonical));
});

test.each([
  ["10.0.0.0/8", undefined, undefined],
  ["10.0.0.0", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)", undefined],
  ["10.0.0.0/08", "must not have leading 0s in IP or prefix length", undefined],
  ["::ffff:10.0.0.0/104", "must not have an IPv4-mapped IPv6 address", undefined],
  ["10.0.0.1/8", "must not have bits set beyond the prefix length", undefined],
  ["FD00::/8", undefined, 'must be in canonical form ("fd00::/8")'],
])("the range %s", (text, strict, canonical) => {
  const causes = (problem: string | undefined) =>
    problem === undefined ? [] : [`f: Invalid value: "${text}": ${problem}`];
  expect(validateStrictCidr(text, "f").map(fieldErrorText)).toEqual(causes(strict));
  expect(validateCanonicalCidr(text, "f").map(fieldErrorText)).toEqual(causes(strict ?? canonical));
});

test.each([
  ["10.0.0.1", []],
  ["a", []],
  ["010.0.0.1", ['f: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']],
  ["FD00::7", ['f: IPv6 address "FD00::7" should be in RFC 5952 canonical format ("fd00::7")']],
])("warnings about the address %s", (text, warnings) => {
  expect(warnAboutIp(text, "f")).toEqual(warnings);
});

test.each([
  ["10.0.0.0/8", []],
  [
    "10.0.0.1/8",
    ['f: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
  ],
  ["010.0.0.0/8", ['f: non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"']],
  ["FD00::/8", ['f: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")']],
])("warnings about the range %s", (text, warnings) => {
  expect(warnAboutCidr(text, "f")).toEqual(warnings);
});
