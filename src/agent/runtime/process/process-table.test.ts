import { expect, test } from "bun:test";
import { type ProcessFacts, parseStat, processFamily, readProcess } from "./process-table.ts";

test("parseStat() reads a line whose command has blanks and parentheses", () => {
  const line =
    "42 (a b) (c)) S 7 42 40 0 -1 4194560 100 0 0 0 30 12 0 0 20 0 1 0 5000 1000000 250 18446744073709551615 1";
  expect(parseStat(line)).toEqual({
    pid: 42,
    parentPid: 7,
    sessionId: 40,
    isDefunct: false,
    cpuTicks: 42,
    startTicks: 5000,
    residentPages: 250,
  });
});

test("readProcess() finds this process", () => {
  expect(readProcess(process.pid)).toMatchObject({ pid: process.pid, parentPid: process.ppid, isDefunct: false });
  expect(readProcess(2 ** 30)).toBeUndefined();
});

test("processFamily() finds the session and all descendants of its leader", () => {
  const facts = (pid: number, parentPid: number, sessionId: number, isDefunct = false): ProcessFacts => ({
    pid,
    parentPid,
    sessionId,
    isDefunct,
    startTicks: 0,
    cpuTicks: 0,
    residentPages: 0,
  });
  const table = [
    facts(1, 0, 1),
    facts(10, 1, 10),
    facts(11, 10, 10),
    // A child that has made a session, with a child of its own.
    facts(12, 11, 12),
    facts(13, 12, 12),
    // An orphan of the session.
    facts(14, 1, 10),
    facts(15, 10, 10, true),
    facts(20, 1, 20),
  ];
  expect(new Set(processFamily(table, 10).map(({ pid }) => pid))).toEqual(new Set([10, 11, 12, 13, 14]));
});
