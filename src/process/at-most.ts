import type { Clock } from "./clock.ts";

/** Resolves when `done` resolves or after `ms`, whichever comes first. Rejects if `done` rejects before that. */
export async function atMost(clock: Clock, ms: number, done: Promise<unknown>): Promise<void> {
  const tooLong = Promise.withResolvers<void>();
  using _timer = clock.after(ms, tooLong.resolve);
  await Promise.race([done, tooLong.promise]);
}
