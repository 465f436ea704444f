/**
 * Points at which a test ends the process or the simulated machine. Between any two of them, the durable, sent, applied
 * or answered data differs. Production passes no handler.
 */
export const crashPoints = [
  "logBeforeWrite",
  "logBeforeSync",
  "logAfterSync",
  "segmentBeforeRoll",
  "segmentPrepared",
  "compactionBeforeRemoval",
  "compactionAfterRemoval",
  "beforeSend",
  "beforeApply",
  "afterApply",
  "snapshotBeforeRestore",
  "snapshotAfterRestore",
  "snapshotAfterInstall",
  "beforeAnswer",
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/** Handler that is called at each crash point. If it does not return, or throws, that is a crash. */
export type ReachCrashPoint = (point: CrashPoint) => void;

export const noCrash: ReachCrashPoint = () => {};
