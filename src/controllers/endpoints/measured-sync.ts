import type { Clock } from "../../process/clock.ts";
import type { SliceObserver, SliceOutcome } from "./slice-observer.ts";

export interface MeasuredSyncParts {
  readonly observer: SliceObserver;
  readonly clock: Clock;
}

/** Syncs the slices of one service, and tells the observer how. `sync` reports its outcome once it has compared them. */
export async function measuredSync(
  { observer, clock }: MeasuredSyncParts,
  sync: (compared: (outcome: SliceOutcome) => void) => Promise<void>,
): Promise<void> {
  const begunMs = clock.steadyMs();
  let outcome: SliceOutcome | undefined;
  let result: "success" | "error" = "error";
  try {
    await sync((found) => {
      outcome = found;
    });
    result = "success";
  } finally {
    observer.synced({ result, seconds: (clock.steadyMs() - begunMs) / 1_000, outcome });
  }
}
