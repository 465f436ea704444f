import { expect, test } from "bun:test";
import { signalNumber } from "./signal-number.ts";

test.each([
  ["SIGTERM", 15],
  ["SIGQUIT", 3],
  ["SIGRTMIN", 34],
  ["SIGRTMIN+3", 37],
  ["SIGRTMAX-1", 63],
  ["SIGNOTHING", 15],
])("signalNumber() returns that of %s", (name, number) => expect(signalNumber(name)).toBe(number));
