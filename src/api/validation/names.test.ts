import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../test/cpu-time.ts";
import {
  configKeyProblems,
  dnsLabel1035Problems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  environmentNameProblems,
  pathSegmentProblems,
  portNameProblems,
} from "./names.ts";

type Problems = (text: string) => string[];

describe("a name is accepted", () => {
  test.each([
    ["dns label", dnsLabelProblems, "a-1"],
    ["dns label", dnsLabelProblems, "1".repeat(63)],
    ["dns 1035 label", dnsLabel1035Problems, "a-1"],
    ["dns subdomain", dnsSubdomainProblems, "a.b-c.1"],
    ["dns subdomain", dnsSubdomainProblems, "a".repeat(253)],
    ["path segment", pathSegmentProblems, "system:node"],
    ["config key", configKeyProblems, ".Key_1-x"],
    ["environment name", environmentNameProblems, "a.b C-1"],
    ["port name", portNameProblems, "http-2"],
  ] as [string, Problems, string][])("as a %s", (_, problems, text) => {
    expect(problems(text)).toEqual([]);
  });
});

describe("a name is refused", () => {
  test.each([
    [dnsLabelProblems, "a".repeat(64), "must be no more than 63 characters"],
    [dnsLabelProblems, "A", "a lowercase RFC 1123 label must consist of"],
    [dnsLabelProblems, "", "a lowercase RFC 1123 label must consist of"],
    [dnsLabelProblems, "a\n", "a lowercase RFC 1123 label must consist of"],
    [dnsLabelProblems, "-a", "a lowercase RFC 1123 label must consist of"],
    [dnsLabel1035Problems, "1a", "a DNS-1035 label must consist of"],
    [dnsSubdomainProblems, "a..b", "a lowercase RFC 1123 subdomain must consist of"],
    [dnsSubdomainProblems, "a".repeat(254), "must be no more than 253 characters"],
    [pathSegmentProblems, "..", "may not be '..'"],
    [pathSegmentProblems, "a/b", "may not contain '/'"],
    [pathSegmentProblems, "a%2f", "may not contain '%'"],
    [configKeyProblems, "..", "must not be '..'"],
    [configKeyProblems, "..a", "must not start with '..'"],
    [configKeyProblems, "a b", "a valid config key must consist of"],
    [environmentNameProblems, "a=b", "a valid environment variable name must consist only of"],
    [portNameProblems, "80", "must contain at least one letter (a-z)"],
    [portNameProblems, "a--b", "must not contain consecutive hyphens"],
    [portNameProblems, "a".repeat(16), "must be no more than 15 characters"],
  ] as [Problems, string, string][])("%p of %j", (problems, text, message) => {
    expect(problems(text).some((problem) => problem.startsWith(message))).toBe(true);
  });
});

test("hostile text is scanned in linear time", () => {
  const started = cpuMs();
  for (const text of ["-".repeat(1_000_000), "a-".repeat(500_000), ".".repeat(1_000_000)]) {
    for (const problems of [dnsLabelProblems, dnsSubdomainProblems, configKeyProblems]) problems(text);
  }
  expect(cpuMs() - started).toBeLessThan(1_500);
});
