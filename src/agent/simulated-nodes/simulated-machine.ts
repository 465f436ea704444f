import type { ResourceList } from "../../api/types/core-v1.ts";
import type { Machine, MachineInfo } from "../node/machine.ts";

/** The size of a simulated node. */
export const capacityDefault: ResourceList = { cpu: "8", memory: "32Gi", "ephemeral-storage": "100Gi" };

export function simulatedMachine(
  name: string,
  bootId: string,
  capacity: ResourceList,
  address: string,
): Pick<Machine, "info"> {
  const info: MachineInfo = {
    capacity,
    swapBytes: 0,
    machineId: name,
    systemUuid: name,
    bootId,
    kernelVersion: "simulated",
    osImage: "simulated",
    operatingSystem: "linux",
    architecture: process.arch === "arm64" ? "arm64" : "amd64",
    addresses: [address],
  };
  return { info: async () => info };
}
