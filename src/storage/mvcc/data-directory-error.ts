/** The data directory cannot be used. The message is one line: what is wrong, and what to do. */
export class DataDirectoryError extends Error {
  readonly path: string;

  constructor(path: string, problem: string, remedy: string) {
    super(`data directory ${path}: ${problem}; ${remedy}`);
    this.name = "DataDirectoryError";
    this.path = path;
  }
}
