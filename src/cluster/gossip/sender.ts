import type { Envelope } from "./message.ts";

/** Number of messages that one member may send per second, and at once. A replica itself sends a tenth of it. */
const messagesPerSecondMax = 50;
const burstMessagesMax = 100;

/** State of a sender that tells new messages from old, forged or excessive ones. */
export class Sender {
  readonly member: number;
  /** Newest message of each of its streams, as [incarnation, sequence]. */
  readonly #newest = new Map<string, readonly [number, number]>();
  #allowance = burstMessagesMax;
  #countedMs: number;

  constructor(member: number, nowMs: number) {
    this.member = member;
    this.#countedMs = nowMs;
  }

  /** Counts a message. Returns false if it exceeds the limit. */
  allows(nowMs: number): boolean {
    const passedMs = Math.max(0, nowMs - this.#countedMs);
    this.#allowance = Math.min(burstMessagesMax, this.#allowance + (passedMs / 1_000) * messagesPerSecondMax);
    this.#countedMs = nowMs;
    if (this.#allowance < 1) return false;
    this.#allowance--;
    return true;
  }

  /** Reports whether the message is newer than all others of this stream, and records it if so. */
  isNews(stream: string, { incarnation, sequence }: Envelope): boolean {
    const [lastIncarnation, lastSequence] = this.#newest.get(stream) ?? [-1, -1];
    const isNewer = incarnation > lastIncarnation || (incarnation === lastIncarnation && sequence > lastSequence);
    if (isNewer) this.#newest.set(stream, [incarnation, sequence]);
    return isNewer;
  }
}
