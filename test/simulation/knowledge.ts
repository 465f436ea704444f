/** The newest state that any client knows. A later request for the newest state must not return an older one. */
export class Knowledge {
  revision = 1;
  /** Log index. */
  index = 0;
  /** The numbers that members received. */
  readonly members = new Set<number>();

  learn(revision: number): void {
    this.revision = Math.max(this.revision, revision);
  }

  learnIndex(index: number): void {
    this.index = Math.max(this.index, index);
  }
}
