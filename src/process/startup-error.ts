/** A failure that the user can fix. The message is one line with the problem and the remedy, printed without a stack. */
export class StartupError extends Error {
  /** The exit code of the program. */
  readonly exitCode: number;

  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.name = "StartupError";
    this.exitCode = exitCode;
  }
}
