import type { Envelope } from "./message.ts";

/** What one member may say in a second, and at once. A replica itself says a tenth of it. */
const messagesPerSecondMax = 50;
const burstMessagesMax = 100;

/** What is remembered of a member to tell what is new of it from what is old, forged or too much. */
export class Sender {
  readonly member: number;
  /** Newest message of each stream of its, as [incarnation, sequence]. */
  readonly #newest = new Map<string, readonly [number, number]>();
  #allowance = burstMessagesMax;
  #countedMs: number;

  constructor(member: number, nowMs: number) {
    this.member = member;
    this.#countedMs = nowMs;
  }

  /** Counts a message; false for one too many. */
  allows(nowMs: number): boolean {
    const passedMs = Math.max(0, nowMs - this.#countedMs);
    this.#allowance = Math.min(burstMessagesMax, this.#allowance + (passedMs / 1_000) * messagesPerSecondMax);
    this.#countedMs = nowMs;
    if (this.#allowance < 1) return false;
    this.#allowance--;
    return true;
  }

  /** Whether the message is newer than all that came in this stream; then it is the newest. */
  isNews(stream: string, { incarnation, sequence }: Envelope): boolean {
    const [lastIncarnation, lastSequence] = this.#newest.get(stream) ?? [-1, -1];
    const isNewer = incarnation > lastIncarnation || (incarnation === lastIncarnation && sequence > lastSequence);
    if (isNewer) this.#newest.set(stream, [incarnation, sequence]);
    return isNewer;
  }
}
