import { rename, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A program at a fixed path, whichever build it is. Restarted members run the most recently installed build. */
export class InstalledProgram {
  readonly path: string;
  readonly #link: string;

  constructor(directory: string) {
    this.#link = join(directory, "program");
    this.path = join(this.#link, "quorate");
  }

  /** @param program the built program. It must stay where it is */
  async install(program: string): Promise<void> {
    await symlink(dirname(program), `${this.#link}.new`);
    await rename(`${this.#link}.new`, this.#link);
  }
}
