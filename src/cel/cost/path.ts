/**
 * The origin of a value, below a variable: `["self", "items", "@items", "name"]`.
 *
 * Upstream's paths share memory: two paths that extend the same one may be written into the same place, and both are
 * then the later one. Estimates depend on it, so the sharing is kept: a path has room for more names than it has, and
 * one that extends it takes the next place in that room.
 */
export class Path {
  static readonly empty = new Path([], 0, 0);
  readonly #room: string[];
  readonly #length: number;
  readonly #capacity: number;

  private constructor(room: string[], length: number, capacity: number) {
    this.#room = room;
    this.#length = length;
    this.#capacity = capacity;
  }

  static of(name: string): Path {
    return new Path([name], 1, 1);
  }

  get names(): readonly string[] {
    return this.#room.slice(0, this.#length);
  }

  extend(name: string): Path {
    if (this.#length < this.#capacity) {
      this.#room[this.#length] = name;
      return new Path(this.#room, this.#length + 1, this.#capacity);
    }
    const capacity = Math.max(1, 2 * this.#capacity);
    return new Path([...this.names, name], this.#length + 1, capacity);
  }
}
