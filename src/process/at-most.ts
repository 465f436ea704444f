import type { Clock } from "./clock.ts";

/** Resolves when `done` has ended, or after `ms`, whichever comes first. @throws what `done` does before that */
export async function atMost(clock: Clock, ms: number, done: Promise<unknown>): Promise<void> {
  const tooLong = Promise.withResolvers<void>();
  using _timer = clock.after(ms, tooLong.resolve);
  await Promise.race([done, tooLong.promise]);
}
