/**
 * Points at which a test stops the process or the simulated machine. Between any two of them, the durable, sent, applied
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

/** Called at each crash point. A crash is a call that throws or does not return. */
export type ReachCrashPoint = (point: CrashPoint) => void;

export const noCrash: ReachCrashPoint = () => {};
