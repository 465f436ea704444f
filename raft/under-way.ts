/** Work that the disk or the state machine does in order. */
export class UnderWay {
  #begun = 0;
  #done = 0;
  #movedAtMs = 0;

  /** Number of pieces handed over so far. */
  get begun(): number {
    return this.#begun;
  }

  get done(): number {
    return this.#done;
  }

  get isIdle(): boolean {
    return this.#done === this.#begun;
  }

  begin(nowMs: number): void {
    if (this.isIdle) this.#movedAtMs = nowMs;
    this.#begun++;
  }

  /** Records that the oldest piece is done. */
  end(nowMs: number): void {
    this.#done++;
    this.#movedAtMs = nowMs;
  }

  /** Returns how long work was pending without progress. */
  stalledMs(nowMs: number): number {
    return this.isIdle ? 0 : nowMs - this.#movedAtMs;
  }
}
