/** What all clients together have been told so far: whoever asks for the newest state from now on must get no less. */
export class Knowledge {
  revision = 1;
  /** Of the log. */
  index = 0;
  /** Numbers that members were given. */
  readonly members = new Set<number>();

  learn(revision: number): void {
    this.revision = Math.max(this.revision, revision);
  }

  learnIndex(index: number): void {
    this.index = Math.max(this.index, index);
  }
}
