import { rename, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A program where its members find it, whatever build that is: who starts it anew gets the one that was installed last. */
export class InstalledProgram {
  readonly path: string;
  readonly #link: string;

  constructor(directory: string) {
    this.#link = join(directory, "program");
    this.path = join(this.#link, "quorate.js");
  }

  /** @param program a built one, which stays where it is */
  async install(program: string): Promise<void> {
    await symlink(dirname(program), `${this.#link}.new`);
    await rename(`${this.#link}.new`, this.#link);
  }
}
