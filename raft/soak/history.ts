import type { Contents } from "./soak-state.ts";

/** Compares the answers that the writers of one round got with the members' contents afterwards. */
export class History {
  readonly #acknowledged = new Set<string>();
  readonly #unknown = new Set<string>();
  readonly #refused = new Set<string>();
  readonly violations: string[] = [];
  /** Faults of this round. */
  faults: readonly string[] = [];

  get counts() {
    return { acknowledged: this.#acknowledged.size, unknown: this.#unknown.size, refused: this.#refused.size };
  }

  happened(faults: readonly string[]): void {
    this.faults = faults;
  }

  acknowledged(id: string): void {
    this.#acknowledged.add(id);
  }

  unknown(id: string): void {
    this.#unknown.add(id);
  }

  /** Records that a write was rejected and will not happen. */
  refused(id: string): void {
    this.#refused.add(id);
  }

  /** Checks a read that began after this write was acknowledged. */
  read(id: string, member: number, found: boolean): void {
    if (!found) this.violations.push(`member ${member} confirmed a read without ${id}, which was acknowledged before`);
  }

  /** Checks the members' contents. @param found the contents of each member, all at the same position of the log */
  check(found: readonly Contents[]): void {
    const [first] = found;
    for (const { applied, digest } of found) {
      if (applied === first?.applied && digest === first.digest) continue;
      this.violations.push(`members differ: ${digest} at ${applied}, ${first?.digest} at ${first?.applied}`);
    }
    for (const contents of found) this.#checkMember(new Map(contents.counts));
  }

  #checkMember(counts: ReadonlyMap<string, number>): void {
    for (const id of this.#acknowledged)
      if (!counts.has(id)) this.violations.push(`${id} was acknowledged and is lost`);
    for (const id of this.#refused) if (counts.has(id)) this.violations.push(`${id} was refused and is there`);
    for (const [id, count] of counts) if (count > 1) this.violations.push(`${id} was applied ${count} times`);
  }
}
