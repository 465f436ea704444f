/**
 * A reason not to start that the person at the keyboard can act on. The message is one line and says what is wrong
 * and what to do; it is printed without a stack.
 */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StartupError";
  }
}
