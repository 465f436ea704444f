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
  /** Number of users of each part. Nodes can be created with parts that overlap those of others. */
  readonly #users: Uint32Array;
  readonly #observer: CidrSetObserver | undefined;
  #usedCount = 0;
  #next = 0;

  constructor(range: NodeCidrRange, observer?: CidrSetObserver) {
    const { cidr, nodePrefixBits } = range;
    this.#range = range;
    this.#first = numberOf(networkOf(cidr));
    this.#users = new Uint32Array(2 ** (nodePrefixBits - cidr.prefixBits));
    this.#observer = observer;
    this.text = `${networkOf(cidr).text}/${cidr.prefixBits}`;
    observer?.opened(this.text, this.#users.length);
  }

  /** Returns undefined if all parts are in use. */
  allocate(): string | undefined {
    if (this.#usedCount === this.#users.length) return undefined;
    const free = this.#users.indexOf(0, this.#next);
    const at = free < 0 ? this.#users.indexOf(0) : free;
    const tries = (at - this.#next + this.#users.length) % this.#users.length;
    this.#next = (at + 1) % this.#users.length;
    this.#users[at] = 1;
    this.#usedCount++;
    this.#observer?.allocated(this.text, this.#usedCount, tries);
    const { cidr, nodePrefixBits } = this.#range;
    return `${addressText(this.#first + BigInt(at) * this.#partSize(), cidr.family)}/${nodePrefixBits}`;
  }

  /** Adds a user to all parts that overlap the CIDR. @returns false if it is outside of the range */
  occupy(cidr: Cidr): boolean {
    const overlap = this.#overlap(cidr);
    if (overlap === undefined) return false;
    for (let at = overlap.from; at <= overlap.to; at++) {
      const users = this.#users[at] ?? 0;
      this.#users[at] = users + 1;
      if (users > 0) continue;
      this.#usedCount++;
      this.#observer?.allocated(this.text, this.#usedCount, 0);
    }
    return true;
  }

  /** Removes a user from all parts that overlap the CIDR, which it must have occupied or been given. */
  release(cidr: Cidr): void {
    const overlap = this.#overlap(cidr);
    if (overlap === undefined) return;
    for (let at = overlap.from; at <= overlap.to; at++) {
      const users = this.#users[at] ?? 0;
      if (users === 0) continue;
      this.#users[at] = users - 1;
      if (users > 1) continue;
      this.#usedCount--;
      this.#observer?.released(this.text, this.#usedCount);
    }
  }

  #overlap({ family, address, prefixBits }: Cidr): { readonly from: number; readonly to: number } | undefined {
    const { cidr } = this.#range;
    if (family !== cidr.family) return undefined;
    const size = 1n << BigInt(8 * address.bytes.length - prefixBits);
    const begin = (numberOf(address) / size) * size - this.#first;
    const [first, last] = [begin / this.#partSize(), (begin + size - 1n) / this.#partSize()];
    const top = BigInt(this.#users.length - 1);
    if (begin + size <= 0n || first > top) return undefined;
    return { from: begin < 0n ? 0 : Number(first), to: Number(last > top ? top : last) };
  }

  #partSize(): bigint {
    const { cidr, nodePrefixBits } = this.#range;
    return 1n << BigInt(8 * cidr.address.bytes.length - nodePrefixBits);
  }
}
