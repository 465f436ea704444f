import type { Machine, MachineInfo } from "./machine.ts";

/** The address of a machine without a network. */
export const loopbackAddress = "127.0.0.1";

/**
 * A machine whose addresses, as they were last measured, can be read at any time. A network may start after the agent,
 * and a lease may bring other addresses.
 */
export class MeasuredMachine implements Machine {
  readonly #machine: Machine;
  #addresses: readonly string[];

  private constructor(machine: Machine, { addresses }: MachineInfo) {
    this.#machine = machine;
    this.#addresses = addresses;
  }

  static async open(machine: Machine): Promise<MeasuredMachine> {
    return new MeasuredMachine(machine, await machine.info());
  }

  /** Never empty. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** Whether other machines may reach this one. */
  get hasNetwork(): boolean {
    return !this.#addresses.includes(loopbackAddress);
  }

  async info(): Promise<MachineInfo> {
    const info = await this.#machine.info();
    this.#addresses = info.addresses;
    return info;
  }

  usage(): ReturnType<Machine["usage"]> {
    return this.#machine.usage();
  }
}
