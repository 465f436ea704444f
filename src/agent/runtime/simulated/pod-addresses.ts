import { parseIp } from "../../../api/validation/ip.ts";
import { addressText, type IpRange, ipRange, numberOf } from "../../../kinds/service-allocation/ip-range.ts";

/** The addresses of pods whose node has no range of its own. */
export const sharedPodRange = "10.240.0.0/12";

/** Gives out the addresses of a range, each to one pod at a time. A returned one is reused as late as possible. */
export class PodAddresses {
  readonly cidr: string;
  readonly #range: IpRange;
  readonly #size: number;
  readonly #taken = new Set<number>();
  #next = 0;

  /** @throws Error for a text that is not a range */
  constructor(cidr: string) {
    const range = ipRange(cidr);
    if (range === undefined) throw new Error(`${cidr} is not a range of addresses`);
    this.cidr = cidr;
    this.#range = range;
    const size = range.last - range.first + 1n;
    this.#size = Number(size > 2n ** 31n ? 2n ** 31n : size);
  }

  /** Returns undefined if all addresses are taken. */
  take(): string | undefined {
    if (this.#taken.size >= this.#size) return undefined;
    while (this.#taken.has(this.#next)) this.#next = (this.#next + 1) % this.#size;
    const offset = this.#next;
    this.#taken.add(offset);
    this.#next = (offset + 1) % this.#size;
    return addressText(this.#range.first + BigInt(offset), this.#range.family);
  }

  release(ip: string): void {
    const address = parseIp(ip);
    if (address !== undefined) this.#taken.delete(Number(numberOf(address) - this.#range.first));
  }
}
