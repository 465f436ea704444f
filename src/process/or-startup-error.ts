import { StartupError } from "./startup-error.ts";

/** Returns the result of `run`. @throws StartupError that begins with `what`, such as the name of a flag */
export function orStartupError<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new StartupError(`${what}: ${(error as Error).message}`);
  }
}
