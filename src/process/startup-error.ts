/**
 * A failure that the user can fix. The message is one line that says what is wrong and what to do. It is printed without a
 * stack.
 */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StartupError";
  }
}
