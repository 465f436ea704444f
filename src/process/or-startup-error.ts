import { StartupError } from "./startup-error.ts";
import { thrownText } from "./thrown-text.ts";

/**
 * Returns the result of `run`, which may be a promise.
 * @throws StartupError that begins with `what`, such as the name of a flag; also as a rejection
 */
export function orStartupError<T>(what: string, run: () => T): T {
  const fail = (error: unknown): never => {
    throw new StartupError(`${what}: ${thrownText(error)}`);
  };
  try {
    const result = run();
    return result instanceof Promise ? (result.catch(fail) as T) : result;
  } catch (error) {
    return fail(error);
  }
}
