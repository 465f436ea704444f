import { expect, test } from "bun:test";
import { loopbackAddress, MeasuredMachine } from "./measured-machine.ts";
import { FakeMachine, machineInfo } from "./testing.ts";

test("a machine whose network starts after the agent gets addresses with the next measurement", async () => {
  const machine = new FakeMachine();
  machine.measured = { ...machineInfo, addresses: [loopbackAddress] };
  const measured = await MeasuredMachine.open(machine);
  expect([measured.addresses, measured.hasNetwork]).toEqual([["127.0.0.1"], false]);
  machine.measured = { ...machineInfo, addresses: ["10.0.0.5", "fd00::5"] };
  expect(await measured.info()).toBe(machine.measured);
  expect([measured.addresses, measured.hasNetwork]).toEqual([["10.0.0.5", "fd00::5"], true]);
  expect(await measured.usage()).toBe(machine.used);
});
