import { type Cidr, networkOf } from "../../api/validation/ip.ts";
import { addressText, numberOf } from "../../kinds/service-allocation/ip-range.ts";

/** Maximum number of bits by which the prefix of a node may be longer than that of the cluster. */
export const nodeBitsMax = { IPv4: 20, IPv6: 16 } as const;

/** A range of addresses for pods, and the length of the prefix of each node's part. */
export interface NodeCidrRange {
  readonly cidr: Cidr;
  readonly nodePrefixBits: number;
}

/** Measures one range. `range` is its text. */
export interface CidrSetObserver {
  opened(range: string, size: number): void;
  /** @param tries parts in use that were passed over */
  allocated(range: string, used: number, tries: number): void;
  released(range: string, used: number): void;
}

/** The parts of one range, given out one after the other. A part that comes back is used again after all others. */
export class CidrSet {
  readonly text: string;
  readonly #range: NodeCidrRange;
  readonly #first: bigint;
  readonly #used: Uint8Array;
  readonly #observer: CidrSetObserver | undefined;
  #usedCount = 0;
  #next = 0;

  constructor(range: NodeCidrRange, observer?: CidrSetObserver) {
    const { cidr, nodePrefixBits } = range;
    this.#range = range;
    this.#first = numberOf(networkOf(cidr));
    this.#used = new Uint8Array(2 ** (nodePrefixBits - cidr.prefixBits));
    this.#observer = observer;
    this.text = `${networkOf(cidr).text}/${cidr.prefixBits}`;
    observer?.opened(this.text, this.#used.length);
  }

  /** Returns undefined if all parts are in use. */
  allocate(): string | undefined {
    if (this.#usedCount === this.#used.length) return undefined;
    const free = this.#used.indexOf(0, this.#next);
    const at = free < 0 ? this.#used.indexOf(0) : free;
    const tries = (at - this.#next + this.#used.length) % this.#used.length;
    this.#next = (at + 1) % this.#used.length;
    this.#used[at] = 1;
    this.#usedCount++;
    this.#observer?.allocated(this.text, this.#usedCount, tries);
    const { cidr, nodePrefixBits } = this.#range;
    return `${addressText(this.#first + BigInt(at) * this.#partSize(), cidr.family)}/${nodePrefixBits}`;
  }

  /** Marks all parts that overlap the CIDR as used. @returns false if it is outside of the range */
  occupy(cidr: Cidr): boolean {
    return this.#set(cidr, 1);
  }

  /** Gives back all parts that overlap the CIDR. */
  release(cidr: Cidr): void {
    this.#set(cidr, 0);
  }

  #set(cidr: Cidr, value: 0 | 1): boolean {
    const overlap = this.#overlap(cidr);
    if (overlap === undefined) return false;
    for (let at = overlap.from; at <= overlap.to; at++) {
      if (this.#used[at] === value) continue;
      this.#used[at] = value;
      this.#usedCount += value === 1 ? 1 : -1;
      if (value === 1) this.#observer?.allocated(this.text, this.#usedCount, 0);
      else this.#observer?.released(this.text, this.#usedCount);
    }
    return true;
  }

  #overlap({ family, address, prefixBits }: Cidr): { readonly from: number; readonly to: number } | undefined {
    const { cidr } = this.#range;
    if (family !== cidr.family) return undefined;
    const size = 1n << BigInt(8 * address.bytes.length - prefixBits);
    const begin = (numberOf(address) / size) * size - this.#first;
    const [first, last] = [begin / this.#partSize(), (begin + size - 1n) / this.#partSize()];
    const top = BigInt(this.#used.length - 1);
    if (begin + size <= 0n || first > top) return undefined;
    return { from: begin < 0n ? 0 : Number(first), to: Number(last > top ? top : last) };
  }

  #partSize(): bigint {
    const { cidr, nodePrefixBits } = this.#range;
    return 1n << BigInt(8 * cidr.address.bytes.length - nodePrefixBits);
  }
}
