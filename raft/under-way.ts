/** Work that was handed on, to the disk or the state machine, and is done in order. */
export class UnderWay {
  #begun = 0;
  #done = 0;
  #movedAtMs = 0;

  /** Pieces handed on so far. */
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

  /** The oldest piece is done. */
  end(nowMs: number): void {
    this.#done++;
    this.#movedAtMs = nowMs;
  }

  /** For how long there was something to do, and none of it got done. */
  stalledMs(nowMs: number): number {
    return this.isIdle ? 0 : nowMs - this.#movedAtMs;
  }
}
