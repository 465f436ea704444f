/** The data directory is unusable. The message is one line with the problem and the remedy. */
export class DataDirectoryError extends Error {
  readonly path: string;

  constructor(path: string, problem: string, remedy: string) {
    super(`data directory ${path}: ${problem}; ${remedy}`);
    this.name = "DataDirectoryError";
    this.path = path;
  }
}
