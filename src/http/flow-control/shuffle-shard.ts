import { createHash } from "node:crypto";

/** Returns the hash of a flow: 64 bits that depend on the schema and on the user or namespace within it. */
export function flowHash(schema: string, distinguisher: string): bigint {
  return createHash("sha256").update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE(0);
}

/**
 * Returns the queues that a flow may use: `handSize` different indexes below `queues`, derived from the hash. Two flows
 * rarely share a whole hand, so a greedy flow rarely fills every queue of another flow.
 */
export function dealHand(hash: bigint, queues: number, handSize: number): number[] {
  const hand: number[] = [];
  let rest = hash;
  for (let dealt = 0; dealt < Math.min(handSize, queues); dealt++) {
    const left = BigInt(queues - dealt);
    const drawn = Number(rest % left);
    rest /= left;
    hand.push(cardAt(drawn, hand));
  }
  return hand;
}

/** Returns the card at a position among the cards outside the hand. */
function cardAt(position: number, hand: readonly number[]): number {
  let card = position;
  for (const taken of hand.toSorted((a, b) => a - b)) {
    if (card >= taken) card++;
  }
  return card;
}
