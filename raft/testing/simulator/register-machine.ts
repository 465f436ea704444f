import type { Entry } from "../../core/entry.ts";
import type { Index } from "../../core/ids.ts";

/** The write of a client: its `sequence`-th one, which is also its value. */
export interface Command {
  readonly client: number;
  readonly sequence: number;
}

const commandBytes = 5;

/** @param padding number of bytes added, so that entries differ in size */
export function encodeCommand({ client, sequence }: Command, padding = 0): Uint8Array {
  const data = new Uint8Array(commandBytes + padding);
  data[0] = client;
  data[1] = sequence >>> 24;
  data[2] = sequence >>> 16;
  data[3] = sequence >>> 8;
  data[4] = sequence;
  return data;
}

export function decodeCommand(data: Uint8Array): Command {
  const [client = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0] = data;
  return { client, sequence: (b1 << 24) | (b2 << 16) | (b3 << 8) | b4 };
}

/**
 * One register per client, with the last sequence number it wrote. A command that arrives twice, because its client
 * retried, takes effect once. Every entry goes into the hash, so two machines with the same index and hash have applied
 * the same log.
 */
export class RegisterMachine {
  index: Index;
  hash: number;
  readonly registers: Int32Array;

  constructor(index: Index, hash: number, registers: Int32Array) {
    this.index = index;
    this.hash = hash;
    this.registers = registers;
  }

  clone(): RegisterMachine {
    return new RegisterMachine(this.index, this.hash, this.registers.slice());
  }

  /** Applies an entry. @returns the command, if it had an effect */
  apply(entry: Entry): Command | undefined {
    this.index = entry.index;
    this.hash = mix(mix(this.hash, entry.index), entry.term);
    if (entry.kind !== "normal") return undefined;
    const command = decodeCommand(entry.data);
    this.hash = mix(mix(this.hash, command.client), command.sequence);
    if (command.sequence <= (this.registers[command.client] ?? 0)) return undefined;
    this.registers[command.client] = command.sequence;
    return command;
  }
}

export function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x01000193);
  return (mixed ^ (mixed >>> 15)) | 0;
}
