import { StatusError } from "../api/status.ts";

/** Returns the result of a write; undefined if its object no longer exists, so that nothing is left to do. */
export async function unlessGone<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  }
}
